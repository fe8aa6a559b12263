//! Subscriptions without order, and sinks that cannot keep the order of a key.

use std::{collections::BTreeSet, time::Duration};

use posthaste_core::{Delivery, Fault, OnDead, Order, Position};

use crate::bench::{Bench, positions, refuse, well};

// pitfall S1
#[test]
fn without_order_a_failing_entry_stops_nobody() {
    let mut bench = Bench::with(1, |subscription, _| {
        subscription.order = Order::None;
        subscription.on_dead = OnDead::Hold;
    });
    let [sick, second] = ["a", "a"].map(|key| bench.publish(key));

    bench.run_for(Duration::from_millis(50), refuse(sick, Fault::transient("not now")));
    let third = bench.publish("a");
    bench.machine.ring();
    bench.run(well);

    assert_eq!((bench.received.as_slice(), bench.parked()), ([second, third].as_slice(), vec![sick]));
}

// pitfall S1
#[test]
fn without_order_a_dead_letter_holds_nothing() {
    let mut bench = Bench::with(1, |subscription, _| {
        subscription.order = Order::None;
        subscription.on_dead = OnDead::Hold;
    });
    let [dead, second] = ["a", "a"].map(|key| bench.publish(key));

    bench.run_for(Duration::from_secs(5), refuse(dead, Fault::permanent("never")));
    let third = bench.publish("a");
    bench.run_for(Duration::from_secs(5), well);

    assert_eq!((bench.received.as_slice(), bench.dead()), ([second, third].as_slice(), vec![dead]));
}

// Parked entries wait for dead letters that hold, also where nobody asked for order.
// pitfall S1
#[test]
fn without_order_a_retry_does_not_wait_for_a_dead_letter() {
    let mut bench = Bench::with(1, |subscription, _| {
        subscription.order = Order::None;
        subscription.on_dead = OnDead::Hold;
    });
    let [dead, sick] = ["a", "a"].map(|key| bench.publish(key));
    let mut first = true;

    bench.run_for(Duration::from_secs(5), |entry| match entry.position {
        position if position == dead => Delivery::Failed(Fault::permanent("never")),
        position if position == sick && std::mem::take(&mut first) => {
            Delivery::Failed(Fault::transient("not now"))
        }
        _ => Delivery::Delivered,
    });

    assert_eq!((bench.received.as_slice(), bench.parked()), ([sick].as_slice(), vec![]));
}

// pitfalls O1, O3
#[test]
fn a_sink_without_key_order_gets_one_entry_of_a_key_at_a_time() {
    let mut bench = Bench::new(1).one_entry_a_key();
    let all = ["a", "a", "b", "a", "b"].map(|key| bench.publish(key));
    bench.take_lanes();

    let mut batches = Vec::new();
    for _ in 0..3 {
        let batch = bench.send();
        let keys: BTreeSet<_> = batch.entries.iter().map(|entry| entry.event.key.clone()).collect();
        assert_eq!(keys.len(), batch.entries.len());
        batches.push(positions(&batch.entries));
        bench.answer_send(batch, well);
    }

    assert_eq!(batches, [vec![all[0], all[2]], vec![all[1], all[4]], vec![all[3]]]);
}

// pitfalls O7, O11
#[test]
fn a_sink_without_key_order_gets_nothing_of_a_key_after_its_fault() {
    let mut bench = Bench::new(1).one_entry_a_key();
    let [head, follower, other] = ["a", "a", "b"].map(|key| bench.publish(key));
    let mut first = true;

    bench.run_for(Duration::from_secs(2), |entry| {
        if entry.position == head && std::mem::take(&mut first) {
            return Delivery::Failed(Fault::transient("not now"));
        }
        well(entry)
    });

    assert_eq!(bench.received, [other, head, follower]);
}

// pitfalls O1, O17
#[test]
fn after_an_outage_a_sink_without_key_order_gets_a_key_from_where_it_stopped() {
    let mut bench = Bench::new(1).one_entry_a_key();
    let all = ["a", "a", "a"].map(|key| bench.publish(key));
    let mut outages = 2;

    bench.run_for(Duration::from_secs(2), |_| {
        if outages > 0 {
            outages -= 1;
            return Delivery::Failed(Fault::unavailable("down"));
        }
        Delivery::Delivered
    });

    assert_eq!(bench.received, all);
}

#[test]
fn entries_without_a_key_are_sent_together_and_fail_alone() {
    let mut bench = Bench::new(1).one_entry_a_key();
    let all: Vec<Position> = (0..4).map(|_| bench.publish_unkeyed().position).collect();
    bench.take_lanes();

    let batch = bench.send();
    assert_eq!(positions(&batch.entries), all);
    bench.answer_send(batch, refuse(all[1], Fault::transient("not now")));
    bench.settle();

    assert_eq!((bench.received.len(), bench.parked()), (3, vec![all[1]]));
}
