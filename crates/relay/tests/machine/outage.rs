//! A destination that is down, or asks to wait, costs nobody an attempt; one that blames the innocent is found out.

use std::time::Duration;

use posthaste_core::{Delivery, Entry, Fault, Lane, Position};
use posthaste_relay::machine::Note;

use crate::bench::{Bench, key_in, parked, positions, refuse, well};

fn down(_: &Entry) -> Delivery {
    Delivery::Failed(Fault::unavailable("down"))
}

/// Lets time pass until the destination is pinged; it answers well.
fn ping(bench: &mut Bench) {
    bench.read_on();
    while bench.pings == 0 {
        bench.now = bench.machine.wake_at().unwrap();
        bench.read_on();
    }
    bench.pings = 0;
    bench.machine.pinged(bench.now, Ok(()));
}

// pitfalls L31, D25
#[test]
fn an_outage_keeps_the_outcomes_of_a_half_delivered_batch() {
    let mut bench = Bench::new(1);
    let [first, second, third] = ["a", "b", "c"].map(|key| bench.publish(key));
    bench.take_lanes();

    let batch = bench.send();
    bench.answer_send(batch, |entry| if entry.position == first { well(entry) } else { down(entry) });
    bench.read_on();
    assert!(bench.sends.is_empty() && !bench.machine.circuit_is_closed());
    ping(&mut bench);
    let batch = bench.send();

    assert_eq!(positions(&batch.entries), [second, third], "only what has no outcome");
    assert!(batch.entries.iter().all(|entry| entry.attempts == 0));
    bench.answer_send(batch, well);
    bench.pass(bench.settings.settle_interval);
    bench.drain();
    let act = &bench.append()[0];
    assert_eq!((act.delivered, act.changes.len(), bench.received.len()), (3, 0, 3));
}

// pitfalls L31, B10
#[test]
fn an_hour_of_outage_burns_no_attempt_and_pings_seldom() {
    let mut bench = Bench::new(4);
    let events: Vec<Position> = (0..40).map(|number| bench.publish(&format!("k{}", number % 8))).collect();
    let (mut tries, end) = (0, bench.now + Duration::from_secs(3_600));

    while bench.now < end {
        // A ping that lies is the worst case: each time it seems to be well again, everything is tried.
        bench.run_for(Duration::from_secs(60), |entry| {
            tries += 1;
            down(entry)
        });
    }
    assert!(bench.parked().is_empty() && bench.dead().is_empty() && bench.received.is_empty());
    assert!(tries < 40 * 300, "tried {tries} times in an hour");
    bench.run_for(Duration::from_secs(60), well);

    bench.received.sort();
    assert_eq!(bench.received, events);
}

// pitfall S1
#[test]
fn an_entry_that_is_refused_again_after_others_were_delivered_is_to_blame() {
    let mut bench = Bench::new(1);
    let [odd, well_one] = ["a", "b"].map(|key| bench.publish(key));
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, down);
    ping(&mut bench);
    let batch = bench.send();
    bench.answer_send(batch, refuse(odd, Fault::unavailable("not this one")));
    bench.read_on();
    assert!(bench.parked().is_empty(), "it may have been the outage's end");

    ping(&mut bench);
    let batch = bench.send();
    bench.answer_send(batch, refuse(odd, Fault::unavailable("not this one")));
    bench.drain();

    assert_eq!(bench.received, [well_one]);
    assert_eq!(parked(&bench.append()[0]), [odd]);
}

// pitfalls S1, S2: the others' answers are always later than the refusal, in each round
#[test]
fn an_entry_that_is_refused_faster_than_others_are_delivered_is_to_blame_too() {
    let mut bench = Bench::new(2);
    let odd = bench.publish(&key_in(Lane(0), 2));
    let other_key = key_in(Lane(1), 2);
    bench.take_lanes();

    let mut rounds = 0;
    while bench.parked().is_empty() {
        rounds += 1;
        assert!(rounds < 10, "one event slows the whole subscription down for ever");
        bench.publish(&other_key);
        bench.machine.ring();
        let refused = bench.send_of(Lane(0));
        let delivered = bench.send_of(Lane(1));
        bench.answer_send(refused, refuse(odd, Fault::unavailable("not this one")));
        bench.answer_send(delivered, well);
        bench.settle();
        if bench.parked().is_empty() {
            ping(&mut bench);
            bench.settle();
        }
    }

    assert_eq!(bench.parked(), [odd]);
}

// pitfall B10
#[test]
fn throttling_waits_as_told_and_counts_no_attempt() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    bench.take_lanes();
    let (asked, wait) = (bench.now, Duration::from_secs(3));

    let batch = bench.send();
    bench.answer_send(batch, |_| Delivery::Failed(Fault::throttled(wait, "slowly")));
    bench.read_on();
    while bench.sends.is_empty() {
        bench.now = bench.machine.wake_at().unwrap();
        bench.read_on();
    }

    assert_eq!(bench.now.since(asked), wait);
    assert_eq!(bench.send().entries[0].attempts, 0);
}

// pitfalls S11, B10: such as one that has too little time left, and says nothing more
#[test]
fn a_sink_that_sends_nothing_and_names_no_fault_is_not_asked_again_at_once() {
    let mut bench = Bench::new(1);
    let event = bench.publish("a");
    let mut tries = 0;

    bench.run_for(Duration::from_secs(10), |_| {
        tries += 1;
        assert!(tries < 1_000, "it spins");
        Delivery::NotSent
    });
    assert!((50..=200).contains(&tries), "{tries} tries in ten seconds");
    bench.run_for(Duration::from_secs(1), well);

    assert_eq!((bench.received.as_slice(), bench.failures_of(event)), ([event].as_slice(), 0));
}

// pitfall U8
#[test]
fn a_batch_that_is_throttled_entry_by_entry_is_told_of_once() {
    let mut bench = Bench::new(1);
    for number in 0..100 {
        bench.publish(&format!("k{number}"));
    }
    bench.take_lanes();

    let batch = bench.send();
    bench.answer_send(batch, |_| Delivery::Failed(Fault::throttled(Duration::from_secs(3), "slowly")));
    bench.drain();

    let told = bench.notes.iter().filter(|note| matches!(note, Note::Throttled { .. })).count();
    assert_eq!(told, 1);
}
