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
    fixture.publish("order.placed", "order-7", &json!(2)).await;
    let dry_run = format!("{ask}?dry_run=true");
    let mut goes = json!({
        "dry_run": true, "concerned": 1, "pending": 1, "pending_estimated": false, "parked": 0, "dead": 0
    });
    assert_eq!(running.operator.send("DELETE", &dry_run, &[], b"").await.json(), goes);
    running.viewer.send("DELETE", &dry_run, &[], b"").await.problem(403);
    running.operator.send("DELETE", &format!("{ask}?dry_run=perhaps"), &[], b"").await.problem(400);
    running.operator.post(&format!("{ask}/pause"), &json!({})).await.json();
    assert_eq!(running.operator.send("DELETE", &dry_run, &[], b"").await.json(), goes);
    assert_eq!(running.viewer.get(ask).await.json()["paused"], true, "it is still there");
    goes["dry_run"] = json!(false);
    assert_eq!(running.operator.send("DELETE", ask, &[], b"").await.json(), goes);
    running.viewer.get(ask).await.problem(404);
    running.operator.send("DELETE", ask, &[], b"").await.problem(404);
}

#[tokio::test]
async fn dead_letters_are_replayed_edited_and_discarded_in_the_operators_name() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    fixture.dead(&[card(), json!(2), json!(3)], OnDead::Continue).await;

    let replay = running.operator.post("/api/v1/dead-letters/replay", &json!({ "ids": [1, 99] })).await;
    assert_eq!(replay.json(), json!({ "dry_run": false, "concerned": 1, "job_id": null }));
    let again = running.operator.post("/api/v1/dead-letters/replay", &json!({ "ids": [1] })).await;
    assert_eq!(again.json()["concerned"], 0, "a second click changes nothing");
    let edit = json!({ "payload": "{\"order\": 8}", "headers": { "a": "b" }, "topic": "late" });
    let edited = running.operator.post("/api/v1/dead-letters/2/edit", &edit).await.json();
    let discard = running.operator.post("/api/v1/dead-letters/discard", &json!({ "ids": [3] })).await;
    assert_eq!(discard.json()["concerned"], 1);

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
    assert_eq!(running.viewer.get("/api/v1/config").await.json()["text"], "lease: 15s\n");
}

#[tokio::test]
async fn a_selection_is_counted_first_and_then_a_job_that_the_relay_carries_out() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    fixture.dead(&[json!(1), json!(2), json!(3)], OnDead::Continue).await;
    let groups = running.viewer.get("/api/v1/dead-letters/groups?subscription=billing").await.json();
    assert_eq!((&groups["items"][0]["count"], groups["items"].as_array().unwrap().len()), (&json!(3), 1));

    let filter = json!({ "subscription": "billing", "error": groups["items"][0]["error"] });
    let replay = "/api/v1/dead-letters/replay";
    let dry = running.operator.post(replay, &json!({ "filter": filter, "dry_run": true })).await.json();
    assert_eq!(dry, json!({ "dry_run": true, "concerned": 3, "job_id": null }));
    let started =
        running.operator.post(replay, &json!({ "filter": filter, "per_second": 1000 })).await.json();
    let job_id = started["job_id"].as_u64().unwrap();
    let path = format!("/api/v1/jobs/{job_id}");
    let job = running.viewer.get(&path).await.json();
    assert_eq!((&job["requested_by"], &job["filter"]["subscription"]), (&json!("olaf"), &json!("billing")));

    let relay = fixture.relay(Taking).await;
    wait_until("it is done", async || running.viewer.get(&path).await.json()["state"] == "done").await;
    wait_until("all are delivered", async || {
        running.viewer.get("/api/v1/subscriptions/billing").await.json()["delivered"] == 3
    })
    .await;
    relay.stop().await;
    assert_eq!(running.viewer.get(&path).await.json()["done"], 3);
    running.operator.post(&format!("{path}/cancel"), &json!({})).await.problem(409);
    running.operator.post("/api/v1/jobs/99/cancel", &json!({})).await.problem(404);
    running.viewer.get("/api/v1/jobs/99").await.problem(404);
    assert_eq!(running.viewer.get("/api/v1/jobs").await.json()["items"].as_array().unwrap().len(), 1);
    // However many there were since.
    sqlx::query(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
         insert into outbox_jobs (what, selection, requested_by, requested_at, state, concerned, last_dead_id, next_at, finished_at)
         select what, selection, 'ada', requested_at, state, concerned, last_dead_id, next_at, finished_at from n, outbox_jobs where job_id = $1",
    )
    .bind(job["job_id"].as_i64())
    .execute(&fixture.pool)
    .await
    .unwrap();
    assert_eq!(running.viewer.get("/api/v1/jobs").await.json()["items"].as_array().unwrap().len(), 50);
    assert_eq!(running.viewer.get(&path).await.json()["requested_by"], "olaf");

    let audit = running.viewer.get("/api/v1/audit?by=olaf").await.json();
    let what: Vec<_> = audit["items"].as_array().unwrap().iter().map(|entry| entry["what"].clone()).collect();
    assert_eq!(what.last(), Some(&json!("started")), "{audit}");
    for bad in [
        json!({}),
        json!({ "ids": [1], "filter": {} }),
        json!({ "ids": [1], "per_second": 5 }),
        json!({ "filter": { "reason": "x", "y": 1 } }),
    ] {
        running.operator.post(replay, &bad).await.problem(400);
    }
}

#[tokio::test]
async fn a_reset_says_what_it_would_do() {
    let fixture = Fixture::new().await;
    let running = fixture.serve().await;
    let relay = fixture.relay(Taking).await;
    fixture.publish("order.placed", "order-7", &json!(1)).await;
    let ask = "/api/v1/subscriptions/billing";
    wait_until("it is delivered", async || running.viewer.get(ask).await.json()["delivered"] == 1).await;

    let dry = json!({ "to": "beginning", "dry_run": true });
    let foreseen = running.operator.post(&format!("{ask}/reset"), &dry).await.json();
    assert_eq!((&foreseen["again"], &foreseen["dry_run"]), (&json!(1), &json!(true)));
    let lanes = running.viewer.get(&format!("{ask}/lanes")).await.json();
    assert_eq!(lanes["items"].as_array().unwrap().len(), 4);
    let relays = running.viewer.get("/api/v1/relays").await.json();
    assert_eq!(relays["items"][0]["lanes"], 4);
    relay.stop().await;
}
