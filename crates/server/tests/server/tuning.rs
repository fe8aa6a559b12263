//! Setting a relay otherwise while it runs, and that it is known who did it.

use std::sync::{Arc, Mutex};

use posthaste::{Error, Result, Settings as RelaySettings, Tuner, Tuning};
use posthaste_server::{Tunable, Tuned};
use serde_json::json;

use crate::{
    fixture::{Fixture, serve, settings, wait_until},
    sinks::Taking,
};

/// Something to set, with a relay behind it or without.
pub(crate) struct Knobs {
    tuned: Mutex<Tuned>,
    tuner: Option<Tuner>,
}

impl Knobs {
    pub(crate) fn new(tuner: Option<Tuner>) -> Self {
        let tuning = tuner.as_ref().map_or_else(|| Tuning::of(&RelaySettings::default()), Tuner::tuning);
        Self { tuned: Mutex::new(Tuned { tuning, log_level: "info".to_owned() }), tuner }
    }
}

impl Tunable for Knobs {
    fn tuned(&self) -> Tuned {
        self.tuned.lock().unwrap().clone()
    }

    fn tune(&self, tuned: &Tuned) -> Result<()> {
        if !["info", "debug"].contains(&tuned.log_level.as_str()) {
            return Err(Error::invalid("log_level is not understood; allowed is info or debug"));
        }
        if let Some(tuner) = &self.tuner {
            tuner.set(tuned.tuning.clone())?;
        }
        *self.tuned.lock().unwrap() = tuned.clone();
        Ok(())
    }

    fn shown(&self) -> Option<String> {
        Some("lease: 15s\n".to_owned())
    }
}

#[tokio::test]
async fn an_operator_sets_a_running_relay_otherwise_and_the_journal_knows() {
    let fixture = Fixture::new().await;
    let relay = fixture.relay(Taking).await;
    let server = fixture.server(settings()).tunable(Arc::new(Knobs::new(Some(relay.tuner()))));
    let running = serve(server).await;
    let before = running.viewer.get("/api/v1/tuning").await.json();
    assert_eq!((&before["batch"], &before["poll_max_ms"]), (&json!(1000), &json!(20.0)));

    let change =
        json!({ "batch": 7, "poll_max_ms": 500, "log_level": "debug", "rate_limits": { "billing": 5 } });
    let after = running.operator.patch("/api/v1/tuning", &change).await.json();
    let expected = json!({ "batch": 7, "poll_min_ms": 2.0, "poll_max_ms": 500.0, "log_level": "debug", "rate_limits": { "billing": 5 } });
    assert_eq!(after, expected);
    assert_eq!(running.viewer.get("/api/v1/tuning").await.json(), expected);
    assert_eq!(running.viewer.get("/api/v1/config").await.json()["tuning"], expected);
    assert_eq!(relay.tuner().tuning().batch, 7);
    let audit = running.viewer.get("/api/v1/audit").await.json();
    let detail =
        "batch 1000 → 7, poll_max 20ms → 500ms, log_level info → debug, rate_limit of billing none → 5/s";
    let told = &audit["items"][0];
    assert_eq!(
        (&told["by"], &told["what"], &told["detail"]),
        (&json!("olaf"), &json!("tuned"), &json!(detail))
    );

    running.operator.patch("/api/v1/tuning", &json!({ "rate_limits": { "billing": null } })).await.json();
    assert!(relay.tuner().tuning().rate_limits.is_empty());
    running.operator.patch("/api/v1/tuning", &json!({ "batch": 7 })).await.json();
    let audit = running.viewer.get("/api/v1/audit").await.json();
    assert_eq!(audit["items"].as_array().unwrap().len(), 2, "what changes nothing is no act: {audit}");
    relay.stop().await;
}

#[tokio::test]
async fn what_is_wrong_or_not_allowed_changes_nothing() {
    let fixture = Fixture::new().await;
    let relay = fixture.relay(Taking).await;
    let knobs = Arc::new(Knobs::new(Some(relay.tuner())));
    let running = serve(fixture.server(settings()).tunable(knobs.clone())).await;
    let before = knobs.tuned();

    let bad = json!({ "batch": 0, "poll_max_ms": "1s", "rate_limits": { "billing": -1 }, "colour": 1 });
    let problem = running.operator.patch("/api/v1/tuning", &bad).await.problem(400);
    let fields: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().map(|wrong| wrong["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["batch", "poll_max_ms", "rate_limits", "colour"]);
    for bad in [json!({ "poll_min_ms": 5000 }), json!({ "rate_limits": { "nobody": 5 } })] {
        running.operator.patch("/api/v1/tuning", &bad).await.problem(400);
    }
    running.viewer.patch("/api/v1/tuning", &json!({ "batch": 7 })).await.problem(403);
    running.stranger.patch("/api/v1/tuning", &json!({ "batch": 7 })).await.problem(401);
    assert_eq!(knobs.tuned(), before);
    assert_eq!(running.viewer.get("/api/v1/audit").await.json()["items"], json!([]));
    relay.stop().await;
}

#[tokio::test]
async fn a_change_of_nothing_is_a_mistake() {
    let fixture = Fixture::new().await;
    let running = serve(fixture.server(settings()).tunable(Arc::new(Knobs::new(None)))).await;
    let path = "/api/v1/tuning";
    let json = [("content-type", "application/json")];
    for answer in [
        running.operator.send("PATCH", path, &[], b"").await,
        running.operator.send("PATCH", path, &json, b"").await,
        running.operator.patch(path, &json!({})).await,
    ] {
        let expected =
            "no field is there; needed is one of batch, poll_min_ms, poll_max_ms, log_level, rate_limits";
        assert_eq!(answer.problem(400)["detail"], expected);
    }
}

#[tokio::test]
async fn a_limit_that_is_set_while_it_runs_slows_it_down() {
    let fixture = Fixture::new().await;
    let relay = fixture.relay(Taking).await;
    let running = serve(fixture.server(settings()).tunable(Arc::new(Knobs::new(Some(relay.tuner()))))).await;
    running.operator.patch("/api/v1/tuning", &json!({ "rate_limits": { "billing": 4 } })).await.json();
    let began = tokio::time::Instant::now();
    for number in 0..12 {
        fixture.publish("order.placed", "order-7", &json!(number)).await;
    }
    let delivered =
        async || running.viewer.get("/api/v1/subscriptions/billing").await.json()["delivered"] == 12;
    wait_until("all are delivered", delivered).await;
    let took = began.elapsed().as_secs_f64();
    assert!(took > 2.0, "12 events at 4 a second took {took:.1} s");
    relay.stop().await;
}
