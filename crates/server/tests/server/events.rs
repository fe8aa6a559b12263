//! Events, keys and dead letters, as they are shown.

use posthaste::OnDead;
use serde_json::json;

use crate::{
    fixture::{Fixture, card, wait_until},
    sinks::Taking,
};

#[tokio::test]
async fn an_event_is_listed_and_shown_with_all_that_happened_to_it() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let relay = fixture.relay(Taking).await;
    let id = fixture.publish("order.placed", "order-7", &json!({ "order": 7 })).await;
    wait_until("it is delivered", async || {
        let listed = running.viewer.get("/api/v1/events?subscription=billing&status=delivered").await.json();
        listed["items"].as_array().unwrap().len() == 1
    })
    .await;
    relay.stop().await;

    let shown = running.viewer.get(&format!("/api/v1/events/{id}")).await.json();
    assert_eq!((&shown["payload"], &shown["redacted"]), (&json!("{\"order\":7}"), &json!(false)));
    assert_eq!(shown["event"]["id"], id.to_string());
    assert_eq!(shown["event"]["statuses"][0]["status"], "delivered");
    let what: Vec<_> =
        shown["timeline"].as_array().unwrap().iter().map(|item| item["what"].clone()).collect();
    assert_eq!(what, ["published", "delivered"]);
    let at = shown["timeline"][1]["at"].as_str().unwrap();
    assert!(at.starts_with("20") && at.ends_with('Z'), "{at}");

    running.viewer.get("/api/v1/events/0190163d-8694-739b-aea5-966c26f8ad91").await.problem(404);
    running.viewer.get("/api/v1/events/17").await.problem(404);
    running.viewer.get("/api/v1/events?subscription=none").await.problem(404);
}

#[tokio::test]
async fn pages_follow_each_other_to_the_end() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    for number in 0..5 {
        fixture.publish("order.placed", "order-7", &json!({ "n": number })).await;
    }

    let (mut path, mut positions) = ("/api/v1/events?limit=2".to_owned(), Vec::new());
    loop {
        let page = running.viewer.get(&path).await.json();
        positions.extend(
            page["items"].as_array().unwrap().iter().map(|event| event["position"].as_i64().unwrap()),
        );
        match page["next"].as_str() {
            Some(next) => path = format!("/api/v1/events?limit=2&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(positions, [5, 4, 3, 2, 1]);
}

#[tokio::test]
async fn what_is_hidden_of_a_payload_is_hidden_everywhere() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    fixture.dead(&[card()], OnDead::Continue).await;

    let letters = running.viewer.get("/api/v1/dead-letters").await;
    let letter = letters.json()["items"][0].clone();
    let id = letter["id"].as_str().unwrap();
    for answer in [
        letters,
        running.viewer.get("/api/v1/dead-letters/1").await,
        running.viewer.get(&format!("/api/v1/events/{id}")).await,
    ] {
        let text = answer.text();
        assert!(!text.contains("4111") && text.contains("***") && text.contains("Ada"), "{text}");
        assert!(text.contains("\"redacted\":true"), "{text}");
        // HTML is text like any other: it is escaped by who shows it, and nobody takes JSON for a page.
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
    assert_eq!(letter["error"], "<script>alert(1)</script> no");

    let veiled = json!({ "payload": letter["payload"] });
    let problem = running.operator.post("/api/v1/dead-letters/1/edit", &veiled).await.problem(400);
    assert_eq!(problem["errors"][0]["field"], "payload");
}

#[tokio::test]
async fn a_key_tells_its_events_in_order_and_what_blocks_it() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    fixture.dead(&[json!(1), json!(2), json!(3)], OnDead::Hold).await;
    fixture.publish("order.placed", "order/8", &json!(4)).await;

    let key = running.viewer.get("/api/v1/keys/order-7").await.json();
    let positions: Vec<_> =
        key["items"].as_array().unwrap().iter().map(|event| event["position"].clone()).collect();
    assert_eq!(positions, [1, 2, 3]);
    assert_eq!(
        key["blocked"],
        json!([{ "subscription": "billing", "position": 1, "due_at": null, "waiting": 2 }])
    );
    let other = running.viewer.get("/api/v1/keys/order%2F8").await.json();
    assert_eq!((&other["blocked"], other["items"].as_array().unwrap().len()), (&json!([]), 1));
    running.viewer.get("/api/v1/keys/none").await.problem(404);
}

#[tokio::test]
async fn the_database_is_diagnosed() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;

    let diagnosis = running.viewer.get("/api/v1/doctor").await.json();
    assert_eq!(diagnosis["verdict"], "fine", "{diagnosis}");
    let findings = diagnosis["findings"].as_array().unwrap();
    let indexes = findings.iter().find(|finding| finding["check"] == "indexes").unwrap();
    assert_eq!((&indexes["verdict"], &indexes["advice"]), (&"fine".into(), &serde_json::Value::Null));
    running.stranger.get("/api/v1/doctor").await.problem(401);
}
