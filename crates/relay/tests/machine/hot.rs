//! The hot path is only a shortcut to what the log has.

use std::time::Duration;

use posthaste_core::{ActKind, Delivery, Fault, Filter, Lane, Order, Pattern};
use posthaste_relay::machine::Note;

use crate::bench::{Bench, draft, key_in, positions, well};

// pitfalls D5, D11
#[test]
fn an_event_without_a_key_goes_hot_and_is_passed_without_a_second_delivery() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let event = bench.publish_unkeyed();

    assert!(bench.offer(&event));
    bench.run_for(Duration::from_secs(3), well);

    assert_eq!(bench.received, [event.position]);
    assert!(bench.notes.contains(&Note::PassedHot(1)));
    let line = bench.last_line(Lane(0));
    assert!(line.cursor.has_passed(event.position) && line.delivered == 1);
}

// What is not settled is repeated after a crash. The next poll may be far away, and nobody rings for what was delivered.
#[test]
fn what_was_delivered_from_memory_is_settled_soon_although_nobody_rings() {
    let seldom = Duration::from_secs(10);
    let mut bench = Bench::with(1, |_, settings| settings.poll_max = seldom);
    bench.run_for(Duration::from_secs(60), well);
    let event = bench.publish_unkeyed();
    assert!(bench.offer(&event));

    bench.run_for(Duration::from_millis(250), well);

    assert_eq!(bench.last_line(Lane(0)).delivered, 1);
}

// pitfall D11
#[test]
fn the_log_may_yield_a_hot_event_while_it_is_on_the_wire() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let event = bench.publish_unkeyed();
    assert!(bench.offer(&event));

    bench.machine.ring();
    bench.read_on();
    assert!(bench.sends.is_empty(), "it is on the wire already");
    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received, [event.position]);
}

// pitfall O5
#[test]
fn an_event_with_a_key_never_goes_hot_where_order_counts() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let event = bench.publish_event(draft().key("a"));

    assert!(!bench.offer(&event));
    bench.run(well);

    assert_eq!(bench.received, [event.position], "the offer rang");
}

#[test]
fn an_event_with_a_key_goes_hot_where_order_does_not_count() {
    let mut bench = Bench::with(1, |subscription, _| subscription.order = Order::None);
    bench.renew();
    bench.run(well);
    let event = bench.publish_event(draft().key("a"));

    assert!(bench.offer(&event));
}

#[test]
fn an_event_that_is_not_due_or_not_wanted_does_not_go_hot() {
    let mut bench = Bench::with(1, |subscription, _| {
        subscription.filter = Filter { types: vec![Pattern::new("tested")], ..Filter::default() };
    });
    bench.renew();
    bench.run(well);
    let delayed = bench.publish_event(draft().deliver_in(Duration::from_secs(9)));
    let unwanted = bench.publish_event(posthaste_core::Event::of("other").bytes("x", "text/plain"));

    assert!(!bench.offer(&delayed) && !bench.offer(&unwanted));
}

#[test]
fn an_event_of_a_lane_that_is_not_held_does_not_go_hot() {
    let mut bench = Bench::new(1);
    let event = bench.publish_unkeyed();

    assert!(!bench.offer(&event), "no lease yet");
}

// pitfalls D5, D11
#[test]
fn an_event_of_a_busy_lane_is_left_to_the_log() {
    let mut bench = Bench::new(1);
    bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();

    let event = bench.publish_unkeyed();
    assert!(!bench.offer(&event), "a batch of the lane is on the wire");
    bench.answer_send(batch, well);
    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received.len(), 2);
    assert_eq!(bench.received[1], event.position);
}

// pitfall D11
#[test]
fn an_event_that_the_log_has_yielded_does_not_go_hot() {
    let mut bench = Bench::new(1);
    let event = bench.publish_unkeyed();
    bench.renew();
    bench.run(well);

    assert!(!bench.offer(&event));
    assert_eq!(bench.received, [event.position]);
}

#[test]
fn one_event_of_a_lane_is_hot_on_the_wire_at_a_time() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let (first, second) = (bench.publish_unkeyed(), bench.publish_unkeyed());

    assert!(bench.offer(&first));
    assert!(!bench.offer(&second));
    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received, [first.position, second.position]);
}

// pitfalls L3, L9
#[test]
fn a_hot_send_that_fails_costs_no_attempt_and_the_log_delivers() {
    let faults = [
        Fault::transient("not now"),
        Fault::permanent("never"),
        Fault::unavailable("down"),
        Fault::throttled(Duration::from_secs(1), "slowly"),
    ];
    for fault in faults {
        let mut bench = Bench::new(1);
        bench.renew();
        bench.run(well);
        let event = bench.publish_unkeyed();
        assert!(bench.offer(&event));

        bench.answer_hot(&event, Delivery::Failed(fault.clone()));
        let mut attempts = Vec::new();
        bench.run_for(Duration::from_secs(3), |entry| {
            attempts.push(entry.attempts);
            Delivery::Delivered
        });

        assert_eq!((attempts, bench.received.len()), (vec![0], 1), "{fault:?}");
        assert!(bench.dead().is_empty() && bench.parked().is_empty());
    }
}

#[test]
fn marks_are_bounded_and_at_the_bound_the_log_takes_over() {
    let mut bench = Bench::with(1, |_, settings| settings.hot_marks = 3);
    bench.renew();
    bench.run(well);
    let events: Vec<_> = (0..5).map(|_| bench.publish_unkeyed()).collect();

    let mut hot = 0;
    for event in &events {
        if bench.offer(event) {
            hot += 1;
            bench.answer_hot(event, Delivery::Delivered);
        }
    }
    assert_eq!(hot, 3);
    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received, events.iter().map(|event| event.position).collect::<Vec<_>>());
    let newer = bench.publish_unkeyed();
    assert!(bench.offer(&newer), "the cursor has passed the marks");
}

// pitfalls D2, D11
#[test]
fn a_lane_with_marks_is_not_given_back_before_they_are_passed() {
    let mut bench = Bench::new(2);
    bench.renew();
    bench.run(well);
    let event = loop {
        let event = bench.publish_unkeyed();
        if event.lane == Lane(1) {
            break event;
        }
    };
    assert!(bench.offer(&event));
    bench.answer_hot(&event, Delivery::Delivered);

    bench.hold_as("other");
    bench.renew();
    bench.drain();
    assert!(bench.appends.is_empty() && bench.machine.held().contains(Lane(1)));
    bench.run(well);

    let line = bench.last_line(Lane(1));
    assert_eq!((line.kind, line.delivered), (ActKind::GivenBack, 1));
    assert!(line.cursor.has_passed(event.position), "the next holder does not deliver it again");
    assert_eq!(bench.received.iter().filter(|position| **position == event.position).count(), 1);
}

#[test]
fn a_lane_that_is_to_be_given_back_takes_no_hot_event() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let (first, second) = (bench.publish_unkeyed(), bench.publish_unkeyed());
    assert!(bench.offer(&first));
    bench.answer_hot(&first, Delivery::Delivered);

    bench.machine.stop();

    assert!(!bench.offer(&second), "its marks are being passed");
}

// pitfall S22
#[test]
fn after_what_was_passed_the_next_batch_follows_at_once() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let hot = bench.publish_unkeyed();
    assert!(bench.offer(&hot));
    bench.machine.ring();
    bench.read_on();
    let next = bench.publish("a");
    bench.machine.ring();
    bench.read_on();

    bench.answer_hot(&hot, Delivery::Delivered);
    bench.drain();

    assert_eq!(positions(&bench.sends[0].entries), [next]);
}

// pitfall D20
#[test]
fn a_hot_event_of_a_lost_lane_is_nobodys_and_the_lane_waits_for_it() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let event = bench.publish_unkeyed();
    assert!(bench.offer(&event));

    bench.machine.lost();
    bench.renew();
    bench.settle();
    assert!(bench.machine.held().is_empty(), "something of the lane is on the wire");
    bench.answer_hot(&event, Delivery::Delivered);
    bench.renew();
    bench.run(well);

    assert_eq!(bench.received, [event.position, event.position], "not settled, so it is repeated");
}

// pitfalls D5, O3
#[test]
fn hot_events_do_not_stop_the_events_of_the_log() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let hot = bench.publish_unkeyed();
    assert!(bench.offer(&hot));
    bench.answer_hot(&hot, Delivery::Delivered);

    let keyed = bench.publish(&key_in(Lane(0), 1));
    bench.machine.ring();
    bench.run(well);

    assert_eq!(bench.received, [hot.position, keyed]);
}
