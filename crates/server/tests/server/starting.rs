//! A server that is there before what it serves, and tables that somebody has damaged.

use posthaste::Subscription;
use posthaste_server::{Backing, Server};
use serde_json::Value;

use crate::{
    fixture::{Fixture, serve_bound, settings, wait_until},
    sinks::Taking,
};

fn check(health: &Value, name: &str) -> (String, String) {
    let found = health["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap();
    (found["state"].as_str().unwrap().to_owned(), found["detail"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn it_is_alive_and_not_ready_until_there_is_a_relay_and_says_why() {
    let fixture = Fixture::new().await;
    let bound = Server::waiting(settings()).bind().await.unwrap();
    let entrance = bound.entrance();
    let running = serve_bound(bound);

    entrance.waits("connection refused at 10.0.0.9");
    assert_eq!(running.stranger.get("/health/live").await.status, 200);
    let ready = running.stranger.get("/health/ready").await;
    assert_eq!(ready.status, 503);
    let text = ready.text();
    assert!(text.contains("the database does not answer") && !text.contains("10.0.0.9"), "{text}");
    let answer = running.viewer.get("/health").await;
    let health: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(
        check(&health, "database"),
        ("failing".to_owned(), "connection refused at 10.0.0.9".to_owned())
    );
    assert_eq!(check(&health, "publisher").0, "failing");
    for path in ["/api/v1/status", "/api/v1/events", "/api/v1/subscriptions/a/lanes", "/api/v1/tuning"] {
        let problem = running.viewer.get(path).await.problem(503);
        assert!(problem["detail"].as_str().unwrap().contains("waits for the database"), "{problem}");
    }
    running.stranger.get("/api/v1/status").await.problem(401);

    let relay = fixture.relay(Taking).await;
    entrance.open(Backing::new(fixture.outbox.driver()).relay(relay.pulse()));
    wait_until("it is ready", async || running.stranger.get("/health/ready").await.status == 200).await;
    assert_eq!(running.viewer.get("/api/v1/status").await.json()["events"], 0);
    relay.stop().await;
}

#[tokio::test]
async fn a_lane_that_has_lost_its_lines_is_found() {
    let fixture = Fixture::new().await;
    fixture.outbox.driver().subscribe(&Subscription::new("billing")).await.unwrap();
    let journal = async |running: &crate::fixture::Running| {
        let answer = running.viewer.get("/health").await;
        check(&serde_json::from_slice(&answer.body).unwrap(), "journal")
    };
    let running = fixture.serve().await;
    wait_until("it was looked over", async || journal(&running).await.0 == "fine").await;
    drop(running);

    sqlx::query("delete from outbox_lines where subscription = 'billing' and lane in (1, 3)")
        .execute(&fixture.pool)
        .await
        .unwrap();
    let running = fixture.serve().await;
    wait_until("it is found", async || journal(&running).await.0 == "failing").await;
    let (_, detail) = journal(&running).await;
    assert!(detail.starts_with("billing has lost its lines in the lanes 1, 3: "), "{detail}");
    assert_eq!(running.viewer.get("/health").await.status, 503);
}
