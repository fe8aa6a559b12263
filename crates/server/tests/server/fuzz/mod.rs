//! Thousands of requests made of the document, good and bad, by everybody: whatever is sent, the server answers as the document says,
//! refuses clearly, tells nothing of its inside, and changes nothing for those who may only look.
//!
//! Each round has a log and a seed of its own. A failure tells the seed and the request; `POSTHASTE_TEST_SEED` runs that round again,
//! or another one.

mod attempt;
mod contract;
mod judge;
mod maker;
mod values;

use std::{collections::BTreeMap, time::Duration};

use posthaste::{OnDead, Outbox, RetryPolicy, Settings as RelaySettings, Subscription};
use posthaste_server::{Exporter, Server};
use serde_json::{Value, json};

use self::{contract::Contract, judge::judge, maker::Maker};
use crate::{
    bad_input::texts,
    caller::Caller,
    fixture::{Fixture, OPERATOR, Running, VIEWER, serve, settings, wait_until},
    sinks::{Failing, Taking},
};

/// How many requests a round has from those who may not act, and then from everybody.
const LOOKING: usize = 250;
const ACTING: usize = 750;
const ROUNDS: u64 = 4;
/// What people take for a token.
const GUESSES: [&str; 5] = ["", "x", "' or 1=1 --", "an operator's token\u{e9}", "an operator's toke"];

/// How often each operation was done and refused, by its id.
pub(crate) type Tally = BTreeMap<String, (u32, u32)>;

/// The seed that was given.
pub(crate) fn seed() -> Option<u64> {
    std::env::var("POSTHASTE_TEST_SEED").ok().map(|seed| seed.parse().unwrap())
}

#[tokio::test]
async fn whatever_is_sent_is_answered_as_the_document_says() {
    let mut tally = Tally::new();
    let seeds = seed().map_or_else(|| (0..ROUNDS).collect::<Vec<u64>>(), |seed| vec![seed]);
    for seed in &seeds {
        let fixture = Fixture::new().await;
        play(*seed, &fixture.outbox, fixture.server(settings()), &mut tally).await;
    }
    if seeds.len() > 1 {
        // What is never done is not tested.
        let idle: Vec<_> = tally.iter().filter(|(_, (done, refused))| *done == 0 || *refused == 0).collect();
        assert!(idle.is_empty(), "never done, or never refused: {idle:?}");
    }
}

/// A round: first those who may not act, for whom everything stays as it is, then everybody.
pub(crate) async fn play(seed: u64, outbox: &Outbox, server: Server, tally: &mut Tally) {
    let (_, exporter) = Exporter::new("outbox").unwrap();
    let running = serve(server.exporter(exporter)).await;
    fill(outbox, &running.operator).await;
    let contract = Contract::of(&running.viewer.get("/api/openapi.json").await.json());
    let mut round = Round { seed, sent: 0, maker: Maker::new(seed, &contract), contract: &contract, tally };
    let before = state(&running.operator).await;
    for value in &before {
        round.maker.values.see("", value);
    }
    round.send(&running, LOOKING, 0).await;
    assert_eq!(state(&running.operator).await, before, "seed {seed}: somebody changed what he may not");
    round.send(&running, ACTING, 70).await;
    assert_eq!(running.viewer.get("/api/v1/me").await.json()["name"], "vera", "it still answers");
    assert_eq!(running.viewer.get("/api/v1/status").await.json()["lanes"], 4);
}

struct Round<'r> {
    seed: u64,
    sent: usize,
    maker: Maker<'r>,
    contract: &'r Contract,
    tally: &'r mut Tally,
}

impl Round<'_> {
    /// Sends so many requests, of which so many in a hundred are an operator's.
    async fn send(&mut self, running: &Running, count: usize, operators: u8) {
        for _ in 0..count {
            let operation = &self.contract.operations[self.sent % self.contract.operations.len()];
            self.sent += 1;
            let attempt = self.maker.attempt(operation);
            let caller = self.caller(running, operators);
            let answer = caller.send_bytes(&attempt.bytes(&caller)).await;
            if let Err(why) = judge(self.contract, &caller, &attempt, &answer) {
                panic!(
                    "{why}\nPOSTHASTE_TEST_SEED={} request {}, token {:?}:\n{}\nanswer: {} {:?}\n{:.2000}",
                    self.seed,
                    self.sent,
                    caller.token,
                    attempt.shown(),
                    answer.status,
                    answer.headers,
                    String::from_utf8_lossy(&answer.body),
                );
            }
            if attempt.method != operation.method || attempt.is_raw {
                continue;
            }
            let id = operation.value["operationId"].as_str().unwrap().to_owned();
            let (done, refused) = self.tally.entry(id).or_default();
            *(if answer.status < 400 { done } else { refused }) += 1;
            if let Ok(body) = serde_json::from_slice::<Value>(&answer.body)
                && answer.status < 400
            {
                self.maker.values.see("", &body);
            }
        }
    }

    fn caller(&mut self, running: &Running, operators: u8) -> Caller {
        if self.maker.values.chance(operators) {
            return running.operator.clone();
        }
        match self.maker.values.rng.u8(..10) {
            0..=6 => running.viewer.clone(),
            7..=8 => running.stranger.clone(),
            _ => {
                let guess = GUESSES[self.maker.values.rng.usize(..GUESSES.len())];
                assert!(guess != OPERATOR && guess != VIEWER);
                Caller { token: Some(guess.to_owned()), ..running.stranger.clone() }
            }
        }
    }
}

/// A log with something in it: events that are delivered, dead and pending, resolved dead letters, a job and a pause. Whatever can be a text
/// is one that was a bad idea elsewhere.
async fn fill(outbox: &Outbox, operator: &Caller) {
    const EVENTS: usize = 16;
    let retry = RetryPolicy { max_attempts: 1, ..RetryPolicy::default() };
    let subscription = |name: &str| Subscription {
        retry: retry.clone(),
        on_dead: OnDead::Continue,
        ..Subscription::new(name)
    };
    let settings = RelaySettings {
        lease: Duration::from_secs(2),
        poll_max: Duration::from_millis(20),
        settle_interval: Duration::ZERO,
        ..RelaySettings::default()
    };
    let relay = outbox.relay().settings(settings);
    let relay = relay.subscribe(subscription("billing"), Failing::refusing());
    let relay = relay.subscribe(subscription("archive"), Taking).start().await.unwrap();
    let texts: Vec<String> = texts()
        .into_iter()
        .filter(|text| !text.is_empty() && text.len() < 100 && !text.contains('\0'))
        .collect();
    let publish = async |number: usize| {
        let text = &texts[number % texts.len()];
        let event =
            json!({ "event_type": "order.placed", "topic": text, "key": text, "payload": { "text": text } });
        operator.post("/api/v1/events", &event).await.json();
    };
    for number in 0..EVENTS {
        publish(number).await;
    }
    wait_until("they are dead here and delivered there", async || {
        let found = operator.get("/api/v1/subscriptions").await.json();
        (&found["items"][0]["delivered"], &found["items"][1]["dead"]) == (&json!(EVENTS), &json!(EVENTS))
    })
    .await;
    relay.stop().await;
    for number in 0..4 {
        publish(number).await;
    }
    let all = json!({ "filter": { "subscription": "billing" }, "per_second": 1 });
    operator.post("/api/v1/dead-letters/replay", &all).await.json();
    operator.post("/api/v1/dead-letters/discard", &json!({ "ids": [1, 2] })).await.json();
    operator.post("/api/v1/subscriptions/archive/pause", &json!({})).await.json();
}

/// Everything that operators can change.
async fn state(operator: &Caller) -> Vec<Value> {
    let mut state = Vec::new();
    for path in [
        "/api/v1/subscriptions",
        "/api/v1/events?limit=1000",
        "/api/v1/dead-letters?limit=1000&resolved=true",
        "/api/v1/jobs",
        "/api/v1/audit?limit=1000",
        "/api/v1/tuning",
    ] {
        let mut answer = operator.get(path).await.json();
        if let Some(Value::Array(items)) = answer.get_mut("items") {
            // Time passes.
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                item.retain(|name, _| !name.ends_with("_seconds") && !name.starts_with("delivered_last"));
            }
        }
        state.push(answer);
    }
    state
}
