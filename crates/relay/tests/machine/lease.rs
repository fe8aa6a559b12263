//! The lease and the chain of lines: nothing is sent when the lease may be lost, and what is not known is not assumed.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Act, ActKind, Appended, Fault, Lane, RelayId};
use posthaste_relay::machine::Note;

use crate::bench::{Bench, NAME, key_in, refuse, well};

/// Another relay takes the lane over, as one does whose holder's row is gone.
fn taken_by_another(bench: &mut Bench, lane: Lane) {
    let line = bench.last_line(lane);
    let act = Act {
        lane,
        n: line.n + 1,
        kind: ActKind::Taken,
        cursor: line.cursor,
        delivered: 0,
        changes: Vec::new(),
    };
    let other = RelayId("other".to_owned());
    assert_eq!(bench.store.append(bench.db_now(), NAME, &other, &[act]), [Appended::Done]);
}

// pitfalls D1, D10, D19
#[test]
fn nothing_is_sent_at_the_deadline_or_after_it_until_the_lease_is_renewed() {
    let mut bench = Bench::new(1);
    bench.take_lanes();
    let deadline = bench.now + bench.settings.sending_time();
    bench.publish("a");
    bench.machine.ring();
    bench.drain();
    let read = bench.reads.pop_front().unwrap();

    bench.now = deadline;
    bench.answer_read(&read);
    bench.machine.ring();
    bench.drain();
    assert!(bench.sends.is_empty() && bench.reads.is_empty());
    bench.renew();

    assert_eq!(bench.send().until, bench.now + bench.settings.sending_time());
}

// pitfall D1
#[test]
fn a_batch_says_until_when_it_may_be_sent() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    let asked = bench.now;
    bench.take_lanes();
    bench.pass(Duration::from_secs(2));

    assert_eq!(bench.send().until, asked + bench.settings.sending_time());
}

// pitfalls L28, S14, D17
#[test]
fn a_lost_answer_repeats_the_very_same_acts_and_nothing_of_those_lanes_is_sent_meanwhile() {
    let mut bench = Bench::new(1);
    let head = bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, refuse(head, Fault::transient("not now")));
    bench.drain();
    let acts = bench.appends.pop_front().unwrap();
    bench.apply(&acts);

    bench.machine.appended(bench.now, None);
    bench.publish("b");
    bench.machine.ring();
    bench.read_on();
    assert!(bench.sends.is_empty() && bench.appends.is_empty());
    bench.pass(Duration::from_millis(100));
    bench.read_on();

    assert!(bench.sends.is_empty());
    assert!(Arc::ptr_eq(&acts, &bench.append()), "the same acts, and not new ones");
    assert_eq!(bench.failures_of(head), 1, "applied once");
    assert_eq!(bench.send().entries.len(), 1);
}

// pitfalls B10, S14
#[test]
fn an_append_that_fails_again_and_again_is_repeated_more_and_more_seldom() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, well);
    bench.pass(bench.settings.settle_interval);
    let (began, mut tries) = (bench.now, 0);

    while bench.now.since(began) < Duration::from_secs(60) {
        bench.renew();
        bench.read_on();
        if bench.appends.pop_front().is_some() {
            tries += 1;
            bench.machine.appended(bench.now, None);
        }
        bench.now = bench.machine.wake_at().unwrap();
    }

    assert!((30..100).contains(&tries), "{tries} tries in a minute");
    bench.run_for(Duration::from_secs(2), well);
    assert_eq!(bench.last_line(Lane(0)).delivered, 1);
}

// pitfalls D10, D18, D19, D24
#[test]
fn a_fenced_lane_is_dropped_and_not_settled() {
    let mut bench = Bench::new(2);
    for lane in [Lane(0), Lane(1)] {
        bench.publish(&key_in(lane, 2));
    }
    bench.take_lanes();
    let (first, second) = (bench.send_of(Lane(0)), bench.send_of(Lane(1)));
    taken_by_another(&mut bench, Lane(0));

    bench.answer_send(first, well);
    bench.answer_send(second, well);
    bench.pass(bench.settings.settle_interval);
    bench.drain();
    bench.append();
    bench.drain();

    assert_eq!(bench.machine.held().iter().collect::<Vec<_>>(), [Lane(1)]);
    assert!(bench.notes.contains(&Note::Fenced(Lane(0))));
    assert_eq!(bench.last_line(Lane(0)).relay, Some(RelayId("other".to_owned())));
    assert_eq!(bench.last_line(Lane(1)).delivered, 1, "the other lane is settled");
}

// pitfalls D7, D19
#[test]
fn a_census_that_shows_a_line_of_somebody_else_drops_the_lane() {
    let mut bench = Bench::new(2);
    bench.take_lanes();
    bench.hold_as("other");
    taken_by_another(&mut bench, Lane(0));
    bench.publish(&key_in(Lane(0), 2));

    bench.renew();
    bench.machine.ring();
    bench.read_on();

    assert_eq!(bench.machine.held().iter().collect::<Vec<_>>(), [Lane(1)]);
    assert!(bench.sends.is_empty());
}

#[test]
fn a_census_that_shows_a_line_of_its_own_not_yet_answered_drops_nothing() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, well);
    bench.pass(bench.settings.settle_interval);
    bench.drain();
    let acts = bench.appends.pop_front().unwrap();
    let answers = bench.apply(&acts);

    bench.renew();
    bench.machine.appended(bench.now, Some(answers));
    bench.drain();

    assert_eq!(bench.machine.held().len(), 1);
    assert!(!bench.notes.contains(&Note::Fenced(Lane(0))));
}

// pitfalls D1, D20
#[test]
fn a_lapsed_lease_that_nobody_used_settles_what_was_sent() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();

    bench.pass(bench.settings.lease * 2);
    bench.answer_send(batch, well);
    bench.pass(bench.settings.settle_interval);
    bench.drain();
    bench.append();

    assert_eq!(bench.last_line(Lane(0)).delivered, 1, "and so it is not delivered again");
}

// pitfalls D1, S6
#[test]
fn a_lost_lease_drops_everything_and_takes_nothing_that_is_still_on_the_wire() {
    let mut bench = Bench::new(2);
    let event = bench.publish(&key_in(Lane(0), 2));
    bench.take_lanes();
    let batch = bench.send();

    bench.machine.lost();
    bench.store.leave(&bench.me.clone());
    bench.me = RelayId("me again".to_owned());
    bench.renew();
    bench.settle();
    assert_eq!(bench.machine.held().iter().collect::<Vec<_>>(), [Lane(1)]);
    bench.answer_send(batch, well);
    bench.renew();
    bench.run(well);

    assert_eq!(bench.machine.held().len(), 2);
    assert_eq!(bench.received, [event, event], "it was not settled, so it is repeated");
}

// pitfall L30
#[test]
fn a_log_that_answers_for_too_few_acts_costs_the_lane_and_not_the_relay() {
    let mut bench = Bench::new(1);
    let event = bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, well);
    bench.pass(bench.settings.settle_interval);
    bench.drain();
    let acts = bench.appends.pop_front().unwrap();
    bench.apply(&acts);

    bench.machine.appended(bench.now, Some(Vec::new()));
    let newer = bench.publish("a");
    bench.run_for(Duration::from_secs(10), well);

    assert_eq!(bench.received, [event, newer]);
}
