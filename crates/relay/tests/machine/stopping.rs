//! Stopping: what is on the wire is awaited and settled, and every lane is given back.

use std::time::Duration;

use posthaste_core::{ActKind, Delivery, Fault, Lane};

use crate::bench::{Bench, key_in, parked, refuse, well};

#[test]
fn a_relay_that_holds_nothing_is_stopped_at_once() {
    let mut bench = Bench::new(1);

    bench.machine.stop();

    assert!(bench.machine.is_stopped());
}

// pitfalls L29, S19
#[test]
fn stopping_waits_for_what_is_on_the_wire_and_gives_every_lane_back() {
    let mut bench = Bench::new(2);
    bench.publish(&key_in(Lane(0), 2));
    bench.take_lanes();
    let batch = bench.send();

    bench.machine.stop();
    bench.settle();
    assert_eq!(bench.last_line(Lane(1)).kind, ActKind::GivenBack, "nothing of it is on the wire");
    assert!(!bench.machine.is_stopped());
    bench.answer_send(batch, well);
    bench.settle();

    let line = bench.last_line(Lane(0));
    assert_eq!((line.kind, line.delivered), (ActKind::GivenBack, 1));
    assert!(bench.machine.is_stopped());
}

// pitfalls L29, O2
#[test]
fn stopping_in_an_outage_settles_what_was_delivered_and_parks_the_rest() {
    let mut bench = Bench::new(1);
    let [first, second, third] = ["a", "b", "b"].map(|key| bench.publish(key));
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, |entry| {
        if entry.position == first { well(entry) } else { Delivery::Failed(Fault::unavailable("down")) }
    });

    bench.machine.stop();
    bench.drain();

    let act = &bench.append()[0];
    assert_eq!((act.kind, act.delivered, parked(act)), (ActKind::GivenBack, 1, vec![second, third]));
    assert!(bench.machine.is_stopped());
}

// pitfalls L29, L25
#[test]
fn stopping_before_anything_was_delivered_leaves_the_log_as_it_was() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    bench.take_lanes();
    let cursor = bench.last_line(Lane(0)).cursor;
    let batch = bench.send();
    bench.answer_send(batch, |_| Delivery::NotSent);

    bench.machine.stop();
    bench.settle();

    let line = bench.last_line(Lane(0));
    assert_eq!((line.kind, line.cursor, bench.parked()), (ActKind::GivenBack, cursor, vec![]));
}

// pitfalls L29, O15
#[test]
fn stopping_while_retries_are_on_the_wire_leaves_those_that_were_not_sent_as_they_were() {
    let mut bench = Bench::new(1);
    let [head, follower] = ["a", "a"].map(|key| bench.publish(key));
    bench.run_for(Duration::from_millis(50), refuse(head, Fault::transient("not now")));
    bench.pass(Duration::from_secs(1));
    let batch = bench.send();

    bench.machine.stop();
    bench.answer_first(batch);
    bench.settle();

    let line = bench.last_line(Lane(0));
    assert_eq!((line.kind, line.delivered), (ActKind::GivenBack, 1));
    assert_eq!((bench.received.as_slice(), bench.parked()), ([head].as_slice(), vec![follower]));
}

#[test]
fn a_lane_whose_take_is_answered_after_the_stop_is_given_back() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.drain();

    bench.machine.stop();
    assert!(!bench.machine.is_stopped(), "a take is on its way");
    bench.settle();

    assert_eq!(bench.last_line(Lane(0)).kind, ActKind::GivenBack);
    assert!(bench.machine.is_stopped());
}

// mutation: keep claiming during drain
#[test]
fn who_stops_takes_nothing_any_more() {
    let mut bench = Bench::new(1);
    bench.take_lanes();
    let taken = bench.last_line(Lane(0)).n;

    bench.machine.stop();
    bench.run_for(Duration::from_secs(30), well);

    let line = bench.last_line(Lane(0));
    assert_eq!((line.kind, line.n), (ActKind::GivenBack, taken + 1), "it was given back, and that was all");
    assert!(bench.machine.is_stopped());
}

// pitfalls D11, S12: the next poll may be ten seconds away, and so is the end of the grace time
#[test]
fn marks_of_hot_deliveries_are_passed_at_once_when_it_stops() {
    let mut bench = Bench::with(1, |_, settings| settings.poll_max = Duration::from_secs(10));
    bench.run_for(Duration::from_secs(60), well);
    let event = bench.publish_unkeyed();
    assert!(bench.offer(&event));

    bench.machine.stop();
    bench.drain();
    bench.answer_hot(&event, Delivery::Delivered);
    bench.run(well);

    assert!(bench.machine.is_stopped(), "without any time passing");
    assert_eq!((bench.received.len(), bench.last_line(Lane(0)).delivered), (1, 1));
}
