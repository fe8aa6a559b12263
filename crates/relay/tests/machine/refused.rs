//! What the database refuses: only the lane whose settlement it does not take waits, and nothing is sent again.

use std::{collections::BTreeSet, time::Duration};

use posthaste_core::{Act, ActKind, Change, Delivery, Entry, Fault, Lane, Limit, Position, RelayId};
use posthaste_relay::machine::Note;

use crate::bench::{Bench, key_in, refuse, well};

/// A database that takes no dead letter.
fn buries(act: &Act) -> bool {
    act.changes.iter().any(|change| matches!(change, Change::Bury(_)))
}

/// Three lanes, each with an event that was sent. The one of the second lane dies of it.
fn one_of_three_dies() -> (Bench, [Position; 3]) {
    let mut bench = Bench::new(3);
    let events = [0, 1, 2].map(|lane| bench.publish(&key_in(Lane(lane), 3)));
    bench.take_lanes();
    let batches = [0, 1, 2].map(|lane| bench.send_of(Lane(lane)));
    for batch in batches {
        bench.answer_send(batch, refuse(events[1], Fault::permanent("never")));
    }
    (bench, events)
}

// pitfalls S14, L28
#[test]
fn what_is_refused_together_is_appended_one_by_one_and_only_one_lane_waits() {
    let (mut bench, events) = one_of_three_dies();

    bench.drain();
    assert_eq!(bench.appends[0].len(), 3, "all of them together, because it is cheaper");
    bench.settle_unless(buries);

    assert_eq!(
        [0, 1, 2].map(|lane| bench.last_line(Lane(lane)).kind),
        [ActKind::Settled, ActKind::Taken, ActKind::Settled]
    );
    assert!(bench.dead().is_empty());
    let refused =
        |note: &&Note| matches!(note, Note::Refused { lane: Lane(1), error, first: true } if error == "no");
    assert_eq!(bench.notes.iter().filter(refused).count(), 1, "{:?}", bench.notes);
    let others = [0, 2].map(|lane| bench.publish(&key_in(Lane(lane), 3)));
    let same = bench.publish(&key_in(Lane(1), 3));
    bench.run_unless(Duration::from_secs(60), buries);
    assert_eq!(bench.received, [events[0], events[2], others[0], others[1]], "the others go on");

    bench.run_for(Duration::from_secs(15), well);
    assert_eq!(bench.dead(), [events[1]]);
    assert_eq!(bench.received[4..], [same], "the lane goes on behind it, and nothing came twice");
    assert!(bench.notes.contains(&Note::Accepted(Lane(1))));
}

// pitfalls B10, S14
#[test]
fn a_refused_act_is_tried_more_and_more_seldom_and_is_always_the_same() {
    let (mut bench, _) = one_of_three_dies();
    bench.drain();
    bench.settle_unless(buries);
    let (began, mut tries) = (bench.now, Vec::new());

    while bench.now.since(began) < Duration::from_secs(60) {
        bench.renew();
        bench.read_on();
        tries.extend(bench.settle_unless(buries).into_iter().filter(|act| act.lane == Lane(1)));
        bench.now = bench.machine.wake_at().unwrap();
    }

    assert!((8..20).contains(&tries.len()), "{} tries in a minute", tries.len());
    assert!(tries.iter().all(|act| *act == tries[0]), "so that a lost answer is recognised");
    assert_eq!(tries[0].n, bench.last_line(Lane(1)).n + 1);
}

// pitfalls B12, S4
#[test]
fn a_lane_that_has_to_wait_takes_no_memory_from_those_that_go_on() {
    let mut bench = Bench::with(8, |_, settings| {
        settings.page = Limit { entries: 10, bytes: 10_000_000 };
        settings.buffer = Limit { entries: 40, bytes: 10_000_000 };
        settings.batch = 5;
    });
    let keys: Vec<String> = (0..8).map(|lane| key_in(Lane(lane), 8)).collect();
    let heads: BTreeSet<Position> = keys[..6].iter().map(|key| bench.publish(key)).collect();
    let mut healthy = BTreeSet::new();
    for _ in 0..500 {
        for (lane, key) in keys.iter().enumerate() {
            let position = bench.publish(key);
            healthy.extend((lane >= 6).then_some(position));
        }
    }
    bench.take_lanes();
    let verdict = |entry: &Entry| match heads.contains(&entry.position) {
        true => Delivery::Failed(Fault::permanent("never")),
        false => Delivery::Delivered,
    };

    bench.run_unless_faulty(Duration::from_secs(2), buries, verdict);

    let received: BTreeSet<_> = bench.received.iter().copied().filter(|at| healthy.contains(at)).collect();
    assert_eq!(received, healthy, "six lanes have to wait, two go on");
    assert_eq!(bench.last_line(Lane(0)).kind, ActKind::Taken);
    bench.run_for(Duration::from_secs(60), well);
    assert_eq!((bench.dead().len(), bench.received.len()), (6, 4_000), "and nothing came twice");
}

#[test]
fn a_take_that_is_refused_is_asked_for_again_after_the_next_census() {
    let mut bench = Bench::new(3);
    let first = |act: &Act| act.lane == Lane(0);

    bench.renew();
    bench.settle_unless(first);
    assert_eq!(bench.machine.held().iter().collect::<Vec<_>>(), [Lane(1), Lane(2)]);
    assert!(bench.machine.wake_at().is_none_or(|at| at > bench.now));
    bench.settle_unless(|_| panic!("nothing is asked for before"));

    bench.renew();
    bench.settle();
    assert_eq!(bench.machine.held().len(), 3);
}

// pitfalls D1, D10
#[test]
fn a_lost_lease_forgets_what_was_refused() {
    let (mut bench, events) = one_of_three_dies();
    bench.drain();
    bench.settle_unless(buries);

    bench.machine.lost();
    bench.store.leave(&bench.me.clone());
    bench.me = RelayId("me again".to_owned());
    bench.renew();
    bench.run_for(Duration::from_secs(30), well);

    assert_eq!(bench.machine.held().len(), 3);
    assert!(bench.dead().is_empty());
    assert_eq!(bench.received, [events[0], events[2], events[1]], "it was not settled, so it is sent again");
}
