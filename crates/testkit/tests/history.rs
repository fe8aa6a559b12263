//! The history checker finds every breach, and nothing where there is none.

use std::collections::BTreeMap;

use posthaste_core::{
    ActKind, Cursor, DeadLetter, DeadReason, EventId, Lane, Order, Position, RelayId, Timestamp,
};
use posthaste_testkit::history::{
    Committed, History, LineWritten, Received, Report, Rule, SubscriptionHistory, check,
};

/// A change of the clean history, and the rules that it breaks.
type Case = (&'static str, fn(&mut History), &'static [Rule]);

#[test]
fn a_clean_history_has_no_breach() {
    let report = check(&clean());

    report.assert_clean();
    let counts = &report.counts[0];
    assert_eq!((counts.received, counts.delivered, counts.repeats, counts.dead), (5, 4, 1, 1));
}

#[test]
fn every_breach_is_found_and_told() {
    let cases: &[Case] = &[
        ("rolled back", |h| receive(h, 99, 60), &[Rule::OnlyCommitted]),
        ("never published", |h| receive(h, 77, 60), &[Rule::OnlyCommitted]),
        ("dead, rolled back", |h| bury(h, letter(9, 99, 99)), &[Rule::OnlyCommitted]),
        ("not wanted", |h| _ = sub(h).unwanted.insert(id(4)), &[Rule::OnlyWanted]),
        ("passed by the cursor", |h| sub(h).received.retain(|r| r.id != id(4)), &[Rule::NothingSkipped]),
        ("parked in the end", park_the_fourth, &[Rule::NothingLeft]),
        ("never read", |h| h.committed.push(event(6, Some("a"))), &[Rule::NothingLeft]),
        ("turned round", |h| sub(h).received.swap(0, 2), &[Rule::KeyOrder]),
        (
            "before its time",
            |h| h.committed[3].deliver_after = Some(Timestamp(41)),
            &[Rule::NotBeforeItsTime],
        ),
        ("one repeat too many", |h| receive(h, 4, 60), &[Rule::RepeatsBounded]),
        ("an outage counted", |h| sub(h).dead[0].attempts = 3, &[Rule::OwnFailuresOnly]),
        (
            "an outage counted while parked",
            |h| _ = sub(h).attempts.insert(id(4), 1),
            &[Rule::OwnFailuresOnly],
        ),
        ("a gap", |h| sub(h).lines[2].n = 9, &[Rule::Chain]),
        ("the cursor went back", |h| sub(h).lines[1].cursor = Cursor::at(Position(6)), &[Rule::Chain]),
        (
            "by another relay",
            |h| sub(h).received[0].relay = Some(RelayId("b".into())),
            &[Rule::OnlyTheHolder],
        ),
        ("after giving back", |h| sub(h).received[4].at = Timestamp(71), &[Rule::OnlyTheHolder]),
        ("held key", |h| sub(h).dead[0].holds = true, &[Rule::HeldKey]),
        ("replay lost", |h| resolve(h, 0, "replayed", 59), &[Rule::NothingSkipped, Rule::NoReplayLost]),
    ];
    for (what, spoil, rules) in cases {
        let mut history = clean();
        spoil(&mut history);
        let report = check(&history);
        assert_eq!(found(&report), *rules, "{what}: {report}");
    }
}

#[test]
fn replays_keep_their_order_and_are_late_by_definition() {
    let mut history = clean();
    let third = letter(2, 3, 3);
    bury(&mut history, third);
    sub(&mut history).received.retain(|received| received.id != id(3));
    sub(&mut history).own_failures = None;
    resolve(&mut history, 0, "replayed", 50);
    resolve(&mut history, 1, "replayed", 50);

    let mut in_order = history.clone();
    receive(&mut in_order, 2, 55);
    receive(&mut in_order, 3, 56);
    check(&in_order).assert_clean();

    let mut turned = history;
    receive(&mut turned, 3, 55);
    receive(&mut turned, 2, 56);
    let report = check(&turned);
    assert_eq!(found(&report), [Rule::ReplayOrder]);
    assert!(report.breaches[0].text.contains("key \"a\""), "{report}");
}

#[test]
fn an_edited_event_arrives_under_its_new_id() {
    let mut history = clean();
    resolve(&mut history, 0, "edited", 50);
    sub(&mut history).dead[0].new_id = Some(id(200));
    assert_eq!(found(&check(&history)), [Rule::NothingSkipped, Rule::NoReplayLost]);

    receive(&mut history, 200, 55);
    check(&history).assert_clean();
}

#[test]
fn a_delivery_after_a_replay_is_no_repeat() {
    let mut history = clean();
    resolve(&mut history, 0, "replayed", 50);
    receive(&mut history, 2, 49);
    receive(&mut history, 2, 55);

    let report = check(&history);

    report.assert_clean();
    assert_eq!(report.counts[0].repeats, 1, "only the one that was there before");
}

#[test]
fn a_delayed_event_takes_its_place_when_it_is_due() {
    let mut history = clean();
    history.committed[0].deliver_after = Some(Timestamp(45));
    let subscription = sub(&mut history);
    subscription.received.retain(|received| received.id != id(1));
    subscription.own_failures = None;
    receive(&mut history, 1, 45);

    check(&history).assert_clean();
}

#[test]
fn a_key_may_wait_for_a_person_for_ever() {
    let mut history = clean();
    let subscription = sub(&mut history);
    subscription.dead[0].holds = true;
    subscription.received.retain(|received| received.id != id(3));
    assert_eq!(found(&check(&history)), [Rule::NothingSkipped], "the third is not even parked");

    sub(&mut history).parked.insert(Position(3));
    check(&history).assert_clean();
}

#[test]
fn nothing_need_be_done_before_the_end() {
    let mut history = clean();
    history.committed.push(event(6, Some("a")));
    let subscription = sub(&mut history);
    subscription.finished = false;
    subscription.received.retain(|received| received.id != id(4));
    subscription.parked.insert(Position(4));

    check(&history).assert_clean();
}

#[test]
fn without_order_nothing_is_out_of_order() {
    let mut history = clean();
    let subscription = sub(&mut history);
    subscription.order = Order::None;
    subscription.received.swap(0, 2);
    subscription.lines.clear();

    check(&history).assert_clean();
}

/// One lane, one relay: 1, 2 and 3 of key `a`, 4 of key `b`, 5 without a key. The second died after one failure, the
/// first was received twice.
fn clean() -> History {
    let subscription = SubscriptionHistory {
        name: "billing".to_owned(),
        received: [(1, 10), (1, 20), (3, 30), (4, 40), (5, 45)]
            .map(|(number, at)| received(number, at))
            .to_vec(),
        dead: vec![letter(1, 2, 2)],
        cursors: BTreeMap::from([(Lane(0), Cursor::at(Position(5)))]),
        lines: vec![
            line(1, ActKind::Reset, 0, 0),
            line(2, ActKind::Taken, 0, 5),
            line(3, ActKind::Settled, 5, 50),
            line(4, ActKind::GivenBack, 5, 70),
        ],
        own_failures: Some(BTreeMap::from([(id(2), 1)])),
        repeats_allowed: Some(1),
        finished: true,
        ..SubscriptionHistory::default()
    };
    let keys = [Some("a"), Some("a"), Some("a"), Some("b"), None];
    History {
        committed: (1..).zip(keys).map(|(number, key)| event(number, key)).collect(),
        rolled_back: [id(99)].into_iter().collect(),
        subscriptions: vec![subscription],
    }
}

fn id(number: u8) -> EventId {
    EventId::from_bytes([number; 16])
}

fn event(number: u8, key: Option<&str>) -> Committed {
    let position = Position(i64::from(number));
    Committed { id: id(number), position, lane: Lane(0), key: key.map(str::to_owned), deliver_after: None }
}

fn received(number: u8, at: i64) -> Received {
    Received { id: id(number), relay: Some(RelayId("a".to_owned())), at: Timestamp(at) }
}

fn line(n: i64, kind: ActKind, after: i64, at: i64) -> LineWritten {
    let relay = (kind != ActKind::Reset).then(|| RelayId("a".to_owned()));
    LineWritten { lane: Lane(0), n, kind, relay, cursor: Cursor::at(Position(after)), at: Timestamp(at) }
}

/// A dead letter of key `a`, since 15.
fn letter(dead_id: i64, number: u8, position: i64) -> DeadLetter {
    DeadLetter {
        dead_id,
        subscription: "billing".to_owned(),
        position: Position(position),
        id: id(number),
        event_type: "t".to_owned(),
        topic: "t".to_owned(),
        key: Some("a".to_owned()),
        aggregate_type: None,
        aggregate_id: None,
        tenant_id: None,
        content_type: "text/plain".to_owned(),
        payload: String::new(),
        headers: BTreeMap::new(),
        reason: DeadReason::PermanentFailure,
        error: "no".to_owned(),
        attempts: 1,
        moved_at: Timestamp(15),
        holds: false,
        resolution: None,
        resolved_at: None,
        resolved_by: None,
        new_id: None,
    }
}

fn sub(history: &mut History) -> &mut SubscriptionHistory {
    &mut history.subscriptions[0]
}

fn receive(history: &mut History, number: u8, at: i64) {
    sub(history).received.push(received(number, at));
}

fn bury(history: &mut History, letter: DeadLetter) {
    if let Some(own) = &mut sub(history).own_failures {
        own.insert(letter.id, 1);
    }
    sub(history).dead.push(letter);
}

fn resolve(history: &mut History, index: usize, how: &str, at: i64) {
    let letter = &mut sub(history).dead[index];
    letter.resolution = Some(how.to_owned());
    letter.resolved_at = Some(Timestamp(at));
}

fn park_the_fourth(history: &mut History) {
    sub(history).received.retain(|received| received.id != id(4));
    sub(history).parked.insert(Position(4));
}

/// The rules that were broken, each once, in the order of the rules.
fn found(report: &Report) -> Vec<Rule> {
    let mut rules: Vec<Rule> = report.breaches.iter().map(|breach| breach.rule).collect();
    rules.sort();
    rules.dedup();
    rules
}
