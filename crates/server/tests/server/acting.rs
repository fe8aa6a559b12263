//! What operators do, and that it is known who did it.

use posthaste::OnDead;
use serde_json::json;

use crate::{
    fixture::{Fixture, card, wait_until},
    sinks::Taking,
};

#[tokio::test]
async fn a_subscription_is_paused_reset_resumed_and_dropped() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let relay = fixture.relay(Taking).await;
    fixture.publish("order.placed", "order-7", &json!(1)).await;
    let ask = "/api/v1/subscriptions/billing";
    wait_until("it is delivered", async || running.viewer.get(ask).await.json()["delivered"] == 1).await;

    let reset = format!("{ask}/reset");
    running.operator.post(&reset, &json!({ "to": "beginning" })).await.problem(409);
    assert_eq!(
        running.operator.post(&format!("{ask}/pause"), &json!({})).await.json(),
        json!({ "concerned": 1 })
    );
    assert_eq!(running.viewer.get(ask).await.json()["paused"], true);
    wait_until("its lanes are given back", async || running.viewer.get(ask).await.json()["lanes_held"] == 0)
        .await;
    assert_eq!(running.operator.post(&reset, &json!({ "to": "beginning" })).await.json()["concerned"], 4);
    assert_eq!(running.operator.post(&format!("{ask}/resume"), &json!({})).await.json()["concerned"], 1);
    wait_until("it is delivered again", async || running.viewer.get(ask).await.json()["delivered"] == 2)
        .await;
    relay.stop().await;

    for bad in
        [json!({}), json!({ "to": "then" }), json!({ "to": "now", "position": 1 }), json!({ "position": 0 })]
    {
        running.operator.post(&reset, &bad).await.problem(400);
    }
    running.operator.send("DELETE", ask, &[], b"").await.problem(409);
    running.operator.post(&format!("{ask}/pause"), &json!({})).await.json();
    assert_eq!(running.operator.send("DELETE", ask, &[], b"").await.json()["concerned"], 1);
    running.viewer.get(ask).await.problem(404);
    running.operator.send("DELETE", ask, &[], b"").await.problem(404);
}

#[tokio::test]
async fn dead_letters_are_replayed_edited_and_discarded_in_the_operators_name() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    fixture.dead(&[card(), json!(2), json!(3)], OnDead::Continue).await;

    let replay = running.operator.post("/api/v1/dead-letters/replay", &json!({ "ids": [1, 99] })).await;
    assert_eq!(replay.json(), json!({ "concerned": 1 }));
    let again = running.operator.post("/api/v1/dead-letters/replay", &json!({ "ids": [1] })).await;
    assert_eq!(again.json(), json!({ "concerned": 0 }), "a second click changes nothing");
    let edit = json!({ "payload": "{\"order\": 8}", "headers": { "a": "b" }, "topic": "late" });
    let edited = running.operator.post("/api/v1/dead-letters/2/edit", &edit).await.json();
    let discard = running.operator.post("/api/v1/dead-letters/discard", &json!({ "ids": [3] })).await;
    assert_eq!(discard.json(), json!({ "concerned": 1 }));

    for (dead_id, resolution) in [(1, "replayed"), (2, "edited"), (3, "discarded")] {
        let letter = running.viewer.get(&format!("/api/v1/dead-letters/{dead_id}")).await.json();
        assert_eq!((&letter["resolution"], &letter["resolved_by"]), (&json!(resolution), &json!("olaf")));
    }
    let letter = running.viewer.get("/api/v1/dead-letters/2").await.json();
    assert_eq!(letter["new_id"], edited["new_id"]);
    running.operator.post("/api/v1/dead-letters/2/edit", &edit).await.problem(409);
    running.operator.post("/api/v1/dead-letters/99/edit", &edit).await.problem(404);
    running.operator.post("/api/v1/dead-letters/1/edit", &json!({})).await.problem(400);
    assert_eq!(running.viewer.get("/api/v1/dead-letters").await.json()["items"], json!([]));
    let all = running.viewer.get("/api/v1/dead-letters?resolved=true").await.json();
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn an_operator_publishes_and_the_event_says_who() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let event = json!({
        "event_type": "order.placed", "topic": "orders", "key": "order-7", "payload": { "a": [1, null] },
        "headers": { "trace": "x" }, "idempotency_key": "once"
    });

    let answer = running.operator.post("/api/v1/events", &event).await;
    let published = answer.json();
    assert_eq!((answer.status, &published["duplicate"]), (201, &json!(false)));
    let again = running.operator.post("/api/v1/events", &event).await.json();
    assert_eq!((&again["id"], &again["duplicate"]), (&published["id"], &json!(true)));

    let id = published["id"].as_str().unwrap();
    let shown = running.viewer.get(&format!("/api/v1/events/{id}")).await.json();
    assert_eq!(shown["payload"], "{\"a\":[1,null]}");
    assert_eq!(shown["headers"], json!({ "trace": "x", "posthaste-published-by": "olaf" }));
    let problem =
        running.operator.post("/api/v1/events", &json!({ "aggregate_id": "7", "x": 1 })).await.problem(400);
    let fields: Vec<_> =
        problem["errors"].as_array().unwrap().iter().map(|wrong| wrong["field"].clone()).collect();
    assert_eq!(fields, ["event_type", "payload", "aggregate_id", "x"]);
}

#[tokio::test]
async fn the_configuration_is_shown_as_it_was_given() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    assert_eq!(running.viewer.get("/api/v1/config").await.json(), json!({ "text": "lease: 15s\n" }));
}
