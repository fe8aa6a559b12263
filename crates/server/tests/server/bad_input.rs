//! Every operation of the document with values that nobody should send: each is refused clearly, none breaks the server.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use posthaste::OnDead;
use serde_json::{Value, json};

use crate::{
    caller::{Answer, Caller},
    document::{Operation, operations},
    fixture::{Fixture, card},
};

/// Texts that were bad ideas elsewhere.
pub(crate) fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "'; drop table outbox; --",
        "\" or \"\"=\"",
        "1 or 1=1",
        "%",
        "_",
        "\\",
        "../../etc/passwd",
        "<script>alert(1)</script>",
        "${jndi:ldap://x}",
        "{{7*7}}",
        "-1",
        "0",
        "1e999",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "99999999999999999999999999999999",
        "NaN",
        "true",
        "null",
        "0190163d-8694-739b-aea5-966c26f8ad91",
        "ZQAAAAAAAAAB",
        "ZAAAAAAAAAAB",
        "////////",
        "2026-02-30T00:00:00Z",
        "9999-12-31T23:59:59Z",
        "1969-12-31T23:59:59Z",
        "\u{0}",
        "a\u{0}b",
        "\r\nx-injected: 1",
        "\u{202e}\u{feff}",
        "😀",
        "e\u{301}",
    ]
    .map(str::to_owned)
    .into();
    texts.push("x".repeat(5_000));
    texts.push("é".repeat(4_000));
    texts
}

pub(crate) fn values() -> Vec<Value> {
    let mut values: Vec<Value> = texts().into_iter().map(Value::from).collect();
    values.extend([
        Value::Null,
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1e300),
        json!([]),
        json!([[]]),
        json!([0]),
        json!([-1, "1", null]),
        json!((1..2_000).collect::<Vec<i64>>()),
        json!({}),
        json!({ "": "" }),
        json!({ "a": { "b": [] } }),
        json!({ "a\u{0}": "b" }),
    ]);
    values
}

pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Whatever it was, the answer is one: no failure of the server, and if it is a refusal, a problem.
#[track_caller]
fn check(what: &str, answer: &Answer) {
    assert!((200..500).contains(&answer.status), "{what}: {} {}", answer.status, answer.text());
    assert!(answer.header("x-injected").is_none(), "{what}");
    if answer.status >= 400 {
        answer.problem(answer.status);
    }
}

async fn try_paths(caller: &Caller, operation: &Operation) {
    for text in
        texts().iter().filter(|text| !text.is_empty() && operation.path.contains('{') && text.len() < 8_000)
    {
        let path = operation.path_like(&encoded(text));
        let answer = caller.post_as(&operation.method, &path, &json!({})).await;
        check(&format!("{} {path}", operation.method), &answer);
    }
}

async fn try_parameters(caller: &Caller, operation: &Operation) {
    for name in operation.parameters() {
        for text in texts() {
            let path = format!("{}?{name}={}", operation.path_like("1"), encoded(&text));
            check(&path, &caller.get(&path).await);
        }
    }
}

async fn try_bodies(caller: &Caller, operation: &Operation) {
    let path = operation.path_like("1");
    for field in operation.fields() {
        for value in values() {
            let body = json!({ field.clone(): value });
            check(&format!("{path} {body:.200}"), &caller.post_as(&operation.method, &path, &body).await);
        }
    }
}

#[tokio::test]
async fn no_operation_fails_whatever_it_is_sent() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    fixture.dead(&[card()], OnDead::Continue).await;

    for operation in operations() {
        try_paths(&running.operator, &operation).await;
        try_parameters(&running.operator, &operation).await;
        try_bodies(&running.operator, &operation).await;
    }
    // And it is all still there.
    assert_eq!(running.viewer.get("/api/v1/status").await.json()["lanes"], 4);
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let viewer = &running.viewer;
    for (path, fields) in [
        ("/api/v1/events?limit=1001", vec!["limit"]),
        ("/api/v1/events?limit=0&cursor=x&status=fine&topic=", vec!["status", "topic", "cursor", "limit"]),
        ("/api/v1/events?status=dead", vec!["status"]),
        ("/api/v1/dead-letters?cursor=ZQAAAAAAAAAB", vec!["cursor"]),
        ("/api/v1/dead-letters?reason=none&limit=huge&resolved=1", vec!["reason", "resolved", "limit"]),
        ("/api/v1/audit?cursor=ZAAAAAAAAAAB&limit=18446744073709551616", vec!["cursor", "limit"]),
        ("/api/v1/keys/order-7?cursor=ZQAAAAAAAAAB&limit=-1", vec!["cursor", "limit"]),
        ("/api/v1/events?cursor=ZQAAAAAAAAAB%00&limit=1e3", vec!["cursor", "limit"]),
        ("/api/v1/history?seconds=901", vec!["seconds"]),
        ("/api/v1/status?x=1", vec!["x"]),
    ] {
        let problem = viewer.get(path).await.problem(400);
        let found: Vec<_> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|wrong| wrong["field"].as_str().unwrap())
            .collect();
        assert_eq!(found, fields, "{path}: {problem}");
    }
}

#[tokio::test]
async fn what_is_no_proper_request_is_refused() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let caller = &running.operator;
    let path = "/api/v1/events";
    let json = [("content-type", "application/json")];

    caller.send("POST", path, &[], b"{}").await.problem(415);
    caller.send("POST", path, &[("content-type", "text/plain")], b"{}").await.problem(415);
    caller.send("POST", path, &json, b"{").await.problem(400);
    caller.send("POST", path, &json, b"\xff\xfe").await.problem(400);
    caller.send("POST", path, &json, b"[]").await.problem(400);
    let deep = format!("{{\"payload\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
    caller.send("POST", path, &json, deep.as_bytes()).await.problem(400);
    let large = vec![b' '; 3 << 20];
    caller.send("POST", path, &json, &large).await.problem(413);
    caller.get("/api/v1/events?key=%ff").await.problem(400);
    caller.get("/api/v1/keys/%ff").await.problem(400);
    caller.get("/api/v1/nothing").await.problem(404);

    for bytes in [
        &b"\x00\x01\x02\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/v1/events HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
    ] {
        let answer = caller.send_bytes(bytes).await;
        assert!(answer.status < 500, "{answer:?}");
    }
    assert_eq!(caller.get("/api/v1/me").await.status, 200);
}
