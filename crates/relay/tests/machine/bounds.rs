//! Memory is bounded, in entries and in bytes, whatever the sink and the log do.

use std::{collections::BTreeSet, time::Duration};

use posthaste_core::{Delivery, Entry, Fault, Lane, Limit, Page};
use posthaste_relay::Settings;

use crate::bench::{Bench, draft, key_in, well};

/// Entries of one kilobyte; 400 of them fill the memory in entries, and 200 in bytes.
const PAYLOAD: usize = 1_024 - 640;

fn tight(settings: &mut Settings, most: Limit) {
    settings.page = Limit { entries: most.entries / 4, bytes: most.bytes / 4 };
    settings.buffer = most;
    settings.batch = 50;
}

fn publish(bench: &mut Bench, count: usize) {
    for number in 0..count {
        bench.publish_event(draft_of(PAYLOAD).key(format!("k{number}")));
    }
}

fn draft_of(payload: usize) -> posthaste_core::EventBuilder {
    posthaste_core::Event::of("tested").bytes(vec![b'x'; payload], "text/plain")
}

/// What comes into the machine from now on, for a minute, while what it sends is never answered.
fn read_for_a_minute(bench: &mut Bench) -> Limit {
    let mut sum = Limit { entries: 0, bytes: 0 };
    for _ in 0..60 {
        bench.renew();
        bench.machine.ring();
        bench.drain();
        while let Some(read) = bench.reads.pop_front() {
            let page: Page = bench.answer_read(&read);
            let read = || page.entries.iter().chain(&page.parked);
            sum.entries += read().count();
            sum.bytes += read().map(Entry::size).sum::<usize>();
            bench.drain();
        }
        bench.pass(Duration::from_secs(1));
    }
    sum
}

// pitfalls B12, B20
#[test]
fn a_sink_that_never_answers_fills_the_memory_to_its_bounds_and_not_beyond() {
    for most in [Limit { entries: 400, bytes: 10_000_000 }, Limit { entries: 4_000, bytes: 200 * 1_024 }] {
        let mut bench = Bench::with(8, |_, settings| tight(settings, most));
        publish(&mut bench, 10_000);
        bench.take_lanes();

        let read = read_for_a_minute(&mut bench);

        assert!(read.entries <= most.entries && read.bytes <= most.bytes, "{read:?} of {most:?}");
        assert!(
            read.entries * 2 > most.entries || read.bytes * 2 > most.bytes,
            "{read:?} is little of {most:?}"
        );
        assert_eq!(bench.machine.buffered(), read.entries);
    }
}

// pitfall B12
#[test]
fn what_is_parked_and_what_is_new_share_the_memory() {
    let most = Limit { entries: 400, bytes: 10_000_000 };
    let mut bench = Bench::with(8, |_, settings| {
        tight(settings, most);
        // One read could bring a full page of each.
        settings.page = most;
    });
    publish(&mut bench, 1_000);
    bench.run_for(Duration::from_millis(50), |_| Delivery::Failed(Fault::transient("not now")));
    bench.pass(Duration::from_secs(300));
    assert_eq!(bench.parked().len(), 1_000);
    publish(&mut bench, 1_000);

    let read = read_for_a_minute(&mut bench);

    assert!(read.entries <= most.entries, "{read:?} of {most:?}");
}

// pitfalls B11, B12
#[test]
fn what_waits_to_be_parked_counts_until_it_is() {
    let most = Limit { entries: 400, bytes: 10_000_000 };
    let mut bench = Bench::with(8, |_, settings| tight(settings, most));
    publish(&mut bench, 10_000);
    bench.take_lanes();
    bench.read_on();
    let first = bench.machine.buffered();

    for _ in 0..8 {
        let batch = bench.sends.pop_front().unwrap();
        bench.answer_send(batch, |_| Delivery::Failed(Fault::transient("not now")));
    }
    let read = read_for_a_minute(&mut bench);

    assert!(!bench.appends.is_empty(), "the settlement is not answered");
    assert!(first + read.entries <= most.entries, "{first} and then {read:?} of {most:?}");
}

// pitfall S4
#[test]
fn an_entry_larger_than_the_memory_is_delivered_alone() {
    let most = Limit { entries: 40, bytes: 8_000 };
    let mut bench = Bench::with(1, |_, settings| tight(settings, most));
    let before = bench.publish("a");
    let large = bench.publish_event(draft_of(100_000).key("a")).position;
    let after = bench.publish("a");

    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received, [before, large, after]);
}

// pitfalls S4, B11: rule 5, a key that hangs stops itself and never other keys
#[test]
fn lanes_that_hang_do_not_take_the_memory_of_those_that_go_on() {
    let most = Limit { entries: 400, bytes: 10_000_000 };
    let mut bench = Bench::with(8, |_, settings| tight(settings, most));
    let keys: Vec<String> = (0..8).map(|lane| key_in(Lane(lane), 8)).collect();
    let mut healthy = BTreeSet::new();
    for _ in 0..500 {
        for (lane, key) in keys.iter().enumerate() {
            let position = bench.publish_event(draft().key(key.as_str())).position;
            healthy.extend((lane >= 6).then_some(position));
        }
    }

    bench.take_lanes();

    for _ in 0..100 {
        bench.renew();
        bench.settle();
        bench.read_on();
        while let Some(index) = bench.sends.iter().position(|batch| batch.lane >= Lane(6)) {
            let batch = bench.sends.remove(index).unwrap();
            bench.answer_send(batch, well);
            bench.settle();
            bench.read_on();
        }
        bench.pass(Duration::from_millis(100));
    }

    let received: BTreeSet<_> = bench.received.iter().copied().collect();
    assert_eq!(received.len(), healthy.len(), "six lanes hang, two have to go on");
    assert_eq!(received, healthy);
}
