//! Who gets in, and what everybody is told. Fresh, it is closed (pitfalls X2, X3).

use posthaste_server::{Server, Settings};
use serde_json::{Value, json};

use crate::{
    caller::Caller,
    document::operations,
    fixture::{Fixture, OPERATOR, VIEWER, serve, settings},
};

#[tokio::test]
async fn without_tokens_nobody_gets_in_and_is_told_what_to_do() {
    let fixture = Fixture::new().await;
    let fresh = Settings { listen: "127.0.0.1:0".parse().unwrap(), ..Settings::default() };
    let running = serve(fixture.server(fresh)).await;

    for operation in operations().iter().filter(|operation| !operation.is_public()) {
        let answer = running.stranger.send(&operation.method, &operation.path_like("1"), &[], b"").await;
        let problem = answer.problem(401);
        assert!(problem["detail"].as_str().unwrap().contains("server.tokens"), "{problem}");
    }
    for path in ["/api/openapi.json", "/api/v1/nothing", "/api/"] {
        running.stranger.get(path).await.problem(401);
    }
    running.operator.get("/api/v1/me").await.problem(401);
    assert_eq!(running.stranger.get("/api/v1/login").await.json(), json!({ "token_needed": true }));
}

#[tokio::test]
async fn where_it_is_open_everybody_is_an_operator() {
    let fixture = Fixture::new().await;
    let open = Settings { listen: "127.0.0.1:0".parse().unwrap(), open: true, ..Settings::default() };
    let running = serve(fixture.server(open)).await;

    assert_eq!(running.stranger.get("/api/v1/login").await.json(), json!({ "token_needed": false }));
    let me = running.stranger.get("/api/v1/me").await.json();
    assert_eq!((&me["name"], &me["role"]), (&json!("anybody"), &json!("operator")));
    running.stranger.post("/api/v1/subscriptions/none/pause", &json!({})).await.problem(404);
}

#[tokio::test]
async fn an_address_that_others_can_reach_is_refused_without_tokens() {
    let fixture = Fixture::new().await;
    for open in [false, true] {
        let settings = Settings { listen: "0.0.0.0:0".parse().unwrap(), open, ..Settings::default() };
        let bound = Server::new(settings, fixture.outbox.driver()).bind().await;
        let error = bound.err().expect("it does not start").to_string();
        assert!(error.contains("add one under server.tokens, or listen on 127.0.0.1"), "{error}");
    }
    let settings = Settings { listen: "0.0.0.0:0".parse().unwrap(), ..settings() };
    assert!(Server::new(settings, fixture.outbox.driver()).bind().await.is_ok());
}

#[tokio::test]
async fn viewers_look_and_operators_act() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;

    let endless = "/api/v1/live";
    for operation in operations().iter().filter(|found| !found.is_public() && found.path != endless) {
        let path = operation.path_like("1");
        running.stranger.send(&operation.method, &path, &[], b"").await.problem(401);
        let answer = running.viewer.send(&operation.method, &path, &[], b"").await;
        if operation.method == "GET" {
            assert!(![401, 403].contains(&answer.status), "{path}: {}", answer.text());
        } else {
            let problem = answer.problem(403);
            assert!(problem["detail"].as_str().unwrap().contains("vera is a viewer"), "{problem}");
        }
        let answer = running.operator.send(&operation.method, &path, &[], b"").await;
        assert!(![401, 403].contains(&answer.status), "{path}: {}", answer.text());
    }
    for method in ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
        running.viewer.send(method, "/api/v1/events", &[], b"").await.problem(403);
        running.operator.send(method, "/api/v1/events", &[], b"").await.problem(405);
    }
}

#[tokio::test]
async fn wrong_tokens_are_limited_and_right_ones_pass_all_the_same() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let guess = |text: &str| Caller { token: Some(text.to_owned()), ..running.stranger.clone() };

    for wrong in ["", "x", &OPERATOR[1..], &format!("{OPERATOR} "), VIEWER.to_uppercase().as_str()] {
        let answer = guess(wrong).get("/api/v1/me").await;
        // What is around a token is not part of it.
        if wrong.trim() != OPERATOR {
            assert!(answer.problem(401)["detail"] != Value::Null);
            assert!(answer.header("www-authenticate").unwrap().starts_with("Bearer"));
        }
    }
    let mut limited = None;
    for _ in 0..20 {
        limited = Some(guess("x").get("/api/v1/me").await);
    }
    let limited = limited.unwrap();
    limited.problem(429);
    let wait: u64 = limited.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert_eq!(running.operator.get("/api/v1/me").await.json()["name"], "olaf");
    running.stranger.get("/api/v1/me").await.problem(401);
    let basic = [("authorization", "Basic b2xhZjp4")];
    assert_eq!(running.stranger.send("GET", "/api/v1/me", &basic, b"").await.status, 429);
}

#[tokio::test]
async fn names_of_other_hosts_and_other_sites_are_refused() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let port = running.viewer.address.port();

    for host in ["evil.example", "127.0.0.1.evil.example", ""] {
        running.viewer.send("GET", "/api/v1/me", &[("host", host)], b"").await.problem(421);
    }
    let local = format!("localhost:{port}");
    assert_eq!(running.viewer.send("GET", "/api/v1/me", &[("host", &local)], b"").await.status, 200);

    let pause = "/api/v1/subscriptions/none/pause";
    let foreign = [("origin", "http://evil.example")];
    running.operator.send("POST", pause, &foreign, b"").await.problem(403);
    running.operator.send("POST", pause, &[("origin", "null")], b"").await.problem(403);
    let own = format!("http://127.0.0.1:{port}");
    running.operator.send("POST", pause, &[("origin", &own)], b"").await.problem(404);
}

#[tokio::test]
async fn every_answer_tells_browsers_what_they_may_not_do() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;

    for answer in [
        running.viewer.get("/api/v1/me").await,
        running.stranger.get("/api/v1/me").await,
        running.viewer.get("/nothing/there").await,
        running.viewer.send("GET", "/api/v1/me", &[("host", "evil.example")], b"").await,
    ] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert!(
            answer.header("set-cookie").is_none() && answer.header("access-control-allow-origin").is_none()
        );
    }
    assert_eq!(running.viewer.get("/api/v1/me").await.header("cache-control"), Some("no-store"));
}
