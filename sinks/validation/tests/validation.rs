//! What passes, what does not, and in which order that is said.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use posthaste_core::{
    DeadReason, Delivery, Entry, Event, EventBuilder, EventId, EventRules, Fault, FaultKind, Lane, Origin,
    Pattern, Position, Sink, Stamp, Timestamp,
};
use posthaste_validation::{Rules, ValidatedSink};

const ORDER: &str =
    r#"{ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" } } }"#;

fn event(draft: EventBuilder) -> Event {
    let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
    draft.build(&EventRules::default(), stamp).unwrap()
}

fn order(payload: &str) -> Event {
    event(Event::of("order.placed").bytes(payload, "application/json"))
}

fn rules(json: bool, schemas: &[(&str, &str)]) -> Rules {
    let mut rules = Rules::new(json);
    for (types, schema) in schemas {
        rules.add(Pattern::new(*types), schema).unwrap();
    }
    rules
}

#[test]
fn a_payload_is_json_or_fits_the_schemas_of_its_type() {
    let orders = rules(false, &[("order.*", ORDER)]);
    assert_eq!(orders.check(&order(r#"{"id":1}"#)), Ok(()));
    assert_eq!(orders.check(&event(Event::of("page.viewed").bytes("x", "text/plain"))), Ok(()));
    for (payload, said) in [
        (r#"{"id":"hunter2"}"#, r#"/id: value is not of type "integer""#),
        (r#"{"name":"hunter2"}"#, r#"the payload: "id" is a required property"#),
        ("{\"id\":1,\n  hunter2", "the payload is not JSON, from line 2, column 3 on"),
        ("", "the payload is not JSON, from line 1, column 0 on"),
    ] {
        assert_eq!(orders.check(&order(payload)).unwrap_err(), said);
    }

    let both = rules(false, &[("order.*", ORDER), ("*", r#"{ "maxProperties": 1 }"#)]);
    assert!(both.check(&order(r#"{"id":1,"a":2}"#)).is_err(), "each that fits the type counts");
    let json = rules(true, &[]);
    assert!(json.check(&order("[1]")).is_ok() && json.check(&order("{")).is_err());
    assert!(Rules::default().is_empty() && !json.is_empty());
}

#[test]
fn what_is_no_schema_or_needs_another_place_is_refused() {
    for bad in [
        "",
        "{",
        r#"{ "type": "order" }"#,
        r#"{ "pattern": "(" }"#,
        r#"{ "$ref": "https://registry.example/order.json" }"#,
        r#"{ "$ref": "file:///etc/passwd" }"#,
    ] {
        assert!(Rules::new(false).add(Pattern::new("*"), bad).is_err(), "{bad}");
    }
}

/// Notes what it gets, and fails what has this payload.
#[derive(Default)]
struct Noting {
    got: Mutex<Vec<i64>>,
    fails: Option<i64>,
}

#[async_trait]
impl Sink for Noting {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        let mut failed = false;
        let answer = |entry: &Entry| {
            self.got.lock().unwrap().push(entry.position.0);
            if failed {
                return Delivery::NotSent;
            }
            failed = self.fails == Some(entry.position.0);
            if failed { Delivery::Failed(Fault::transient("no")) } else { Delivery::Delivered }
        };
        batch.iter().map(answer).collect()
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Good and bad orders of these keys, numbered from 0; what the sink got, and a letter for each answer.
async fn deliver(orders: &[(&str, bool)], fails: Option<i64>) -> (Vec<i64>, String) {
    let sink = Arc::new(Noting { fails, ..Noting::default() });
    let validated = ValidatedSink::new(sink.clone(), rules(false, &[("order.*", ORDER)]));
    let answers = letters(&validated, orders).await;
    let got = sink.got.lock().unwrap().clone();
    (got, answers)
}

/// A letter for each answer: delivered, schema, failed, not sent.
async fn letters(validated: &ValidatedSink, orders: &[(&str, bool)]) -> String {
    let entry = |(position, (key, good)): (usize, &(&str, bool))| {
        let draft =
            Event::of("order.placed").bytes(if *good { r#"{"id":1}"# } else { "{}" }, "application/json");
        let draft = if key.is_empty() { draft } else { draft.key(*key) };
        Entry {
            position: Position(i64::try_from(position).unwrap()),
            lane: Lane(0),
            event: event(draft),
            origin: Origin::Log,
            attempts: 0,
            blocked: false,
            delayed: false,
            defect: None,
        }
    };
    let batch: Vec<Entry> = orders.iter().enumerate().map(entry).collect();
    let answers = validated.deliver(&batch, Instant::now() + Duration::from_secs(60)).await;
    let letter = |answer: &Delivery| match answer {
        Delivery::Delivered => 'd',
        Delivery::NotSent => 'n',
        Delivery::Failed(fault) if fault.reason == DeadReason::SchemaValidationFailed => {
            assert_eq!(fault.kind, FaultKind::Permanent);
            's'
        }
        Delivery::Failed(_) => 'f',
    };
    answers.iter().map(letter).collect()
}

#[tokio::test]
async fn a_bad_event_stops_its_key_and_nothing_else() {
    let (good, bad) = (true, false);
    assert_eq!(deliver(&[("a", good), ("b", good)], None).await, (vec![0, 1], "dd".to_owned()));
    assert_eq!(
        deliver(&[("a", good), ("a", bad), ("b", good), ("a", good), ("a", bad)], None).await,
        (vec![0, 2], "dsdnn".to_owned())
    );
    assert_eq!(deliver(&[("", bad), ("", good), ("", bad)], None).await, (vec![1], "sds".to_owned()));
    assert_eq!(deliver(&[("a", bad)], None).await, (vec![], "s".to_owned()));
    assert_eq!(
        deliver(&[("a", good), ("a", bad), ("b", bad)], Some(0)).await,
        (vec![0], "fns".to_owned()),
        "one fault a key: the second is told when its turn comes"
    );
}

#[tokio::test]
async fn rules_that_are_replaced_count_from_the_next_batch_on() {
    let sink = ValidatedSink::new(Arc::new(Noting::default()), Rules::default());
    let bad = [("a", false)];
    assert_eq!(letters(&sink, &bad).await, "d", "without a rule everything passes");
    sink.set_rules(rules(false, &[("order.*", ORDER)]));
    assert_eq!(letters(&sink, &bad).await, "s");
    sink.set_rules(rules(false, &[("order.*", r#"{ "maxProperties": 0 }"#)]));
    assert_eq!(
        (letters(&sink, &bad).await, letters(&sink, &[("a", true)]).await),
        ("d".to_owned(), "s".to_owned())
    );
    sink.set_rules(Rules::default());
    assert_eq!(letters(&sink, &[("a", true)]).await, "d");
}
