//! A good history keeps every promise, and each way of spoiling it breaks the promise that is about it.

use std::time::{Duration, Instant};

use posthaste::{DeadLetter, DeadReason, EventId, Lane, Position, Timestamp};
use posthaste_testkit::history::Committed;

use super::{super::*, *};
use crate::{
    demo::{
        facts::{Facts, SubscriberFacts},
        receipts::{Receipt, Seen},
        shop::{Books, Sold},
        subscribers::WAREHOUSE,
    },
    screen::Look,
};

/// Two orders of three events and one page that was viewed.
const EVENTS: u8 = 7;
/// The first event of the second order is the poison, and its replay arrives last.
const POISON: u8 = 4;

fn id(number: u8) -> EventId {
    EventId::from_bytes([number; 16])
}

fn key(number: u8) -> Option<String> {
    (number < EVENTS).then(|| format!("order-{}", (number - 1) / 3 + 1))
}

fn receipt(number: u8) -> Receipt {
    Receipt { id: id(number), at: Timestamp(i64::from(number) * 1_000), instant: Instant::now(), attempt: 1 }
}

fn sold(number: u8) -> Sold {
    let (position, lane) = (Position(number.into()), Lane(0));
    let event = Committed { id: id(number), position, lane, key: key(number), deliver_after: None };
    Sold { event, committed_at: Instant::now() }
}

fn dead_letter() -> DeadLetter {
    DeadLetter {
        dead_id: 1,
        subscription: INVOICES.to_owned(),
        position: Position(POISON.into()),
        id: id(POISON),
        event_type: "order.placed".to_owned(),
        topic: "order.placed".to_owned(),
        key: key(POISON),
        aggregate_type: None,
        aggregate_id: None,
        tenant_id: None,
        content_type: "application/json".to_owned(),
        payload: "{}".to_owned(),
        headers: Default::default(),
        reason: DeadReason::PoisonMessage,
        error: "listener panicked: an order has an address".to_owned(),
        attempts: 1,
        moved_at: Timestamp(5_000),
        holds: false,
        resolution: Some("replayed".to_owned()),
        resolved_at: Some(Timestamp(20_000)),
        resolved_by: Some("demo".to_owned()),
        new_id: None,
    }
}

fn subscriber(name: &'static str) -> SubscriberFacts {
    let mut seen = Seen::default();
    (1..=EVENTS).for_each(|number| seen.add(receipt(number)));
    SubscriberFacts { name, seen, dead: Vec::new(), attempts_during_outage: 0 }
}

/// What a demo sees in which everything goes as promised.
fn good() -> Facts {
    let mut subscribers: Vec<_> = [WAREHOUSE, EMAIL, PAYMENTS, INVOICES].map(subscriber).into();
    subscribers[1].seen.failures.insert(id(2), 2);
    subscribers[1].seen.receipts[1].attempt = 3;
    let invoices = &mut subscribers[3];
    invoices.dead.push(dead_letter());
    invoices.seen.failures.insert(id(POISON), 1);
    let mut replayed = invoices.seen.receipts.remove(usize::from(POISON) - 1);
    replayed.at = Timestamp(21_000);
    invoices.seen.receipts.push(replayed);
    let books = Books {
        sold: (1..=EVENTS).map(sold).collect(),
        rolled_back: [id(100), id(101)].into(),
        placed: 2,
        poison: Some((id(POISON), "order-2".to_owned())),
    };
    let now = Instant::now();
    let outage = now..now + Duration::from_secs(3);
    Facts { books, subscribers, orders_in_table: 2, outage, took: Duration::from_secs(12) }
}

fn text(facts: &Facts, promises: &[Promise]) -> String {
    let plan = Plan { rate: 1, duration: Duration::from_secs(12), seed: 1 };
    Summary { facts, promises, plan: &plan, look: Look::Plain }.text()
}

#[test]
fn a_good_history_keeps_every_promise() {
    let facts = good();
    let promises = judge(&facts);
    let text = text(&facts, &promises);

    assert_eq!(end(&promises), End::Fine, "{text}");
    assert!(text.contains("All 8 promises kept") && !text.contains('✗'), "{text}");
    assert!(text.contains("email failed 2 times with 1 event; 1 arrived"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

/// Spoils the good history, and demands that this promise is broken by it.
#[track_caller]
fn check_breaks(title: &str, spoil: impl Fn(&mut Facts)) {
    let mut facts = good();
    spoil(&mut facts);
    let promises = judge(&facts);
    let text = text(&facts, &promises);

    assert_eq!(end(&promises), End::Bad, "{text}");
    assert!(text.contains(&format!("✗ {title}")), "{title} in {text}");
    assert!(text.contains("promises broken"), "{text}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn a_loss_is_found() {
    check_breaks("committed = delivered", |facts| _ = facts.subscribers[0].seen.receipts.remove(2));
    check_breaks("committed = delivered", |facts| facts.subscribers[2].seen.receipts.clear());
}

#[test]
fn what_was_rolled_back_or_never_published_is_found() {
    check_breaks("nothing from a rollback", |facts| facts.subscribers[0].seen.receipts.push(receipt(100)));
    check_breaks("nothing from a rollback", |facts| facts.subscribers[0].seen.receipts.push(receipt(50)));
    check_breaks("nothing from a rollback", |facts| facts.orders_in_table = 3);
}

#[test]
fn a_key_out_of_order_is_found() {
    check_breaks("order kept in every key", |facts| facts.subscribers[1].seen.receipts.swap(0, 1));
}

#[test]
fn attempts_that_nobody_made_are_found() {
    check_breaks("failures are tried again", |facts| facts.subscribers[3].dead[0].attempts = 5);
}

#[test]
fn an_attempt_burned_by_the_outage_is_found() {
    check_breaks("an outage costs no attempts", |facts| facts.subscribers[2].seen.receipts[3].attempt = 2);
    check_breaks("an outage costs no attempts", |facts| facts.subscribers[2].attempts_during_outage = 1);
}

#[test]
fn a_dead_letter_that_is_missing_or_another_is_found() {
    let title = "poison becomes a dead letter";
    check_breaks(title, |facts| facts.subscribers[3].dead.clear());
    check_breaks(title, |facts| facts.subscribers[3].dead[0].reason = DeadReason::MaxRetriesExceeded);
    check_breaks(title, |facts| facts.subscribers[0].dead.push(dead_letter()));
    check_breaks(title, |facts| facts.books.poison = None);
}

#[test]
fn a_replay_that_was_not_made_or_is_lost_is_found() {
    check_breaks("a replay is delivered", |facts| {
        let letter = &mut facts.subscribers[3].dead[0];
        (letter.resolution, letter.resolved_at) = (None, None);
    });
    check_breaks("a replay is delivered", |facts| _ = facts.subscribers[3].seen.receipts.pop());
}

#[test]
fn a_duplicate_is_found() {
    check_breaks("no duplicates", |facts| facts.subscribers[0].seen.receipts.push(receipt(7)));
}

#[test]
fn a_subscriber_that_is_missing_is_found() {
    check_breaks("failures are tried again", |facts| _ = facts.subscribers.remove(1));
}

#[test]
fn many_breaches_are_not_all_told() {
    let mut facts = good();
    facts.subscribers[0].seen.receipts.clear();
    let promises = judge(&facts);

    assert!(text(&facts, &promises).contains("and 4 more"), "{}", text(&facts, &promises));
}
