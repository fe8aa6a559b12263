//! Live figures, the past, metrics and health, with a relay that really works.

use std::{sync::Arc, time::Duration};

use posthaste::{OnDead, metric};
use posthaste_server::{Access, Exporter, Limits, Settings};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    caller::{Caller, PATIENCE},
    fixture::{Fixture, Running, serve, settings, wait_until},
    sinks::{Failing, Taking},
};

/// A stream of server-sent events.
struct Stream {
    stream: TcpStream,
    text: String,
}

impl Stream {
    async fn open(caller: &Caller) -> Self {
        let mut stream = TcpStream::connect(caller.address).await.unwrap();
        let token = caller.token.as_deref().unwrap_or_default();
        let head =
            format!("GET /api/v1/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        Self { stream, text: String::new() }
    }

    /// The data of the next event of this name; none when the stream ends.
    async fn next(&mut self, name: &str) -> Option<Value> {
        let opening = format!("event: {name}\ndata: ");
        timeout(PATIENCE, async {
            loop {
                if let Some((_, rest)) = self.text.split_once(&opening)
                    && let Some((data, rest)) = rest.split_once("\n\n")
                {
                    let data = serde_json::from_str(data).unwrap();
                    self.text = rest.to_owned();
                    return Some(data);
                }
                let mut bytes = [0; 4_096];
                match self.stream.read(&mut bytes).await.unwrap() {
                    0 => return None,
                    read => self.text.push_str(&String::from_utf8_lossy(&bytes[..read])),
                }
            }
        })
        .await
        .expect("the stream goes on in time")
    }
}

#[tokio::test]
async fn who_looks_sees_every_second_what_happens_and_the_end() {
    let fixture = Fixture::new().await;
    let mut running = fixture.serve().await;
    let mut stream = Stream::open(&running.viewer).await;
    fixture.dead(&[json!(1)], OnDead::Continue).await;

    let sample = loop {
        let sample = stream.next("sample").await.unwrap();
        if sample["subscriptions"]["billing"]["dead"] == 1 {
            break sample;
        }
    };
    assert!(sample["at"].as_str().unwrap().ends_with('Z'), "{sample}");
    running.operator.post("/api/v1/subscriptions/billing/pause", &json!({})).await.json();
    let notice = loop {
        let notice = stream.next("notice").await.unwrap();
        if notice["what"] != "dead_letter" {
            break notice;
        }
    };
    assert_eq!((&notice["what"], &notice["subscription"]), (&json!("paused"), &json!("billing")));
    let kept = running.viewer.get("/api/v1/notices").await.json();
    assert_eq!(kept["items"][0], notice, "the newest is kept for those who look later");
    let history = running.viewer.get("/api/v1/history?seconds=2").await.json();
    let seconds = history["subscriptions"]["billing"].as_array().unwrap();
    assert_eq!(history["times"].as_array().unwrap().len(), seconds.len());
    assert!((1..=2).contains(&seconds.len()) && seconds.last().unwrap()["paused"] == true, "{history}");

    running.stop.take().unwrap().send(()).unwrap();
    while stream.next("sample").await.is_some() {}
    assert!(stream.text.ends_with("0\r\n\r\n"), "it was ended, and not cut off: {:?}", stream.text);
    timeout(PATIENCE, running.task.join_next()).await.expect("the server ends in time").unwrap().unwrap();
}

#[tokio::test]
async fn only_so_many_may_look_at_once() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let mut streams = Vec::new();
    for _ in 0..64 {
        streams.push(Stream::open(&running.viewer).await);
    }
    wait_until("all places are taken", async || {
        let answer = timeout(Duration::from_millis(200), running.viewer.get("/api/v1/live")).await;
        answer.is_ok_and(|answer| answer.status == 503)
    })
    .await;
    let refused = running.viewer.get("/api/v1/live").await;
    refused.problem(503);
    assert!(refused.header("retry-after").is_some());

    drop(streams);
    wait_until("a place is free", async || {
        let mut stream = Stream::open(&running.viewer).await;
        let mut head = [0; 12];
        let read = timeout(PATIENCE, stream.stream.read_exact(&mut head)).await;
        read.is_ok_and(|read| read.is_ok()) && head == *b"HTTP/1.1 200"
    })
    .await;
}

/// A server with metrics, as the recorder of this thread hears them.
async fn serve_metrics(
    fixture: &Fixture,
    metrics: Access,
) -> (Running, metrics::LocalRecorderGuard<'static>) {
    let (recorder, exporter) = Exporter::new("shop").unwrap();
    // For as long as the test runs; it is a small leak.
    let guard = metrics::set_default_local_recorder(Box::leak(Box::new(recorder)));
    metric::describe("shop");
    let running = serve(fixture.server(Settings { metrics, ..settings() }).exporter(exporter)).await;
    (running, guard)
}

#[tokio::test]
async fn metrics_have_the_names_of_the_engine_and_a_lock() {
    let fixture = Fixture::with_prefix("shop").await;
    let (running, _guard) = serve_metrics(&fixture, Access::Token).await;
    running.stranger.get("/metrics").await.problem(401);
    let relay = fixture.relay(Taking).await;
    fixture.publish("order.placed", "order-7", &json!(1)).await;

    wait_until("it is counted", async || {
        let text = running.viewer.get("/metrics").await.text();
        text.contains("shop_events_delivered_total{subscription=\"billing\"} 1")
    })
    .await;
    let text = running.viewer.get("/metrics").await.text();
    assert!(text.contains("# TYPE shop_end_to_end_latency_seconds histogram"), "{text}");
    for line in text.lines().filter(|line| line.starts_with("# HELP ")) {
        let name = line.split(' ').nth(2).unwrap().strip_prefix("shop_").unwrap();
        assert!(metric::ALL.iter().any(|(known, _, help)| *known == name && line.ends_with(help)), "{line}");
    }
    relay.stop().await;
}

#[tokio::test]
async fn metrics_may_be_public() {
    let fixture = Fixture::new().await;
    let (running, _guard) = serve_metrics(&fixture, Access::Public).await;
    assert_eq!(running.stranger.get("/metrics").await.status, 200);
    running.stranger.get("/api/v1/status").await.problem(401);
    let without = fixture.serve().await;
    without.viewer.get("/metrics").await.problem(404);
}

/// The state of a check.
fn state(health: &Value, name: &str) -> String {
    let checks = health["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name);
    check.map_or("missing", |check| check["state"].as_str().unwrap()).to_owned()
}

#[tokio::test]
async fn health_has_every_check_and_readiness_is_by_progress() {
    let fixture = Fixture::new().await;
    let relay = fixture.relay(Taking).await;
    let limits = Limits { stalled: Duration::from_secs(1), ..Limits::default() };
    let server = fixture.server(Settings { limits, ..settings() });
    let server = server.relay(relay.pulse()).sink("billing", Arc::new(Failing::refusing()));
    let running = serve(server).await;

    assert_eq!(running.stranger.get("/health/live").await.json(), json!({ "status": "alive" }));
    wait_until("it is ready", async || running.stranger.get("/health/ready").await.status == 200).await;
    running.stranger.get("/health").await.problem(401);
    wait_until("the destination was asked", async || {
        let answer = running.viewer.get("/health").await;
        let health: Value = serde_json::from_slice(&answer.body).unwrap();
        state(&health, "sink") == "failing" && state(&health, "database") == "fine" && answer.status == 503
    })
    .await;
    let looked_at = running.viewer.get("/api/v1/checks").await;
    assert_eq!((looked_at.status, state(&looked_at.json(), "sink").as_str()), (200, "failing"));

    // Nobody delivers any more, and there is work.
    relay.stop().await;
    fixture.publish("order.placed", "order-7", &json!(1)).await;
    wait_until("it is not ready", async || running.stranger.get("/health/ready").await.status == 503).await;
    let health: Value = serde_json::from_slice(&running.viewer.get("/health").await.body).unwrap();
    assert_eq!(
        (state(&health, "publisher"), state(&health, "lease")),
        ("failing".to_owned(), "failing".to_owned())
    );
    wait_until("it stands still", async || {
        let health: Value = serde_json::from_slice(&running.viewer.get("/health").await.body).unwrap();
        state(&health, "progress") == "failing"
    })
    .await;
}

#[tokio::test]
async fn a_relay_that_does_not_move_is_not_ready_although_it_runs() {
    let fixture = Fixture::new().await;
    // It holds its lanes and renews its lease, but nothing moves (pitfall U1).
    let relay = fixture.relay(Failing::down()).await;
    let limits = Limits { stalled: Duration::from_secs(1), ..Limits::default() };
    let server = fixture.server(Settings { limits, ..settings() }).relay(relay.pulse());
    let running = serve(server).await;
    wait_until("it is ready", async || running.stranger.get("/health/ready").await.status == 200).await;

    fixture.publish("order.placed", "order-7", &json!(1)).await;
    wait_until("it stands still", async || {
        let health: Value = serde_json::from_slice(&running.viewer.get("/health").await.body).unwrap();
        let stands = state(&health, "progress") == "failing" && health["ready"] == false;
        stands && state(&health, "publisher") == "fine" && state(&health, "lease") == "fine"
    })
    .await;
    assert_eq!(running.stranger.get("/health/ready").await.status, 503);
}
