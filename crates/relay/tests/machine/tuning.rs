//! What changes while a relay runs: how much it takes up at a time, how it polls, and how fast it delivers.

use std::{collections::BTreeMap, time::Duration};

use posthaste_relay::{Settings, Tuning};

use crate::bench::{Bench, NAME, draft, well};

/// A limit for the subscription under test.
fn limited(limit: u32) -> BTreeMap<String, u32> {
    BTreeMap::from([(NAME.to_owned(), limit)])
}

/// What is delivered in so many seconds, each delivery answered at once.
fn delivered_in(bench: &mut Bench, seconds: u32) -> usize {
    let before = bench.received.len();
    for _ in 0..seconds {
        bench.renew();
        bench.run_for(Duration::from_secs(1), well);
    }
    bench.received.len() - before
}

fn with_events(lanes: u8, settings: impl FnOnce(&mut Settings)) -> Bench {
    let mut bench = Bench::with(lanes, |_, all| settings(all));
    for number in 0..5_000 {
        bench.publish_event(draft().key(format!("k{}", number % 50)));
    }
    bench.take_lanes();
    bench
}

#[test]
fn no_more_is_delivered_in_a_second_than_allowed_and_nothing_is_lost_or_out_of_order() {
    let mut bench = with_events(8, |settings| settings.rate_limits = limited(100));
    let delivered = delivered_in(&mut bench, 10);
    assert!((900..=1_020).contains(&delivered), "{delivered} in 10 s at 100 a second");
    let appends = bench.statements.1;
    assert!(appends > 20, "what waits for its turn does not hold up settlements: {appends}");

    let tuning = Tuning { rate_limits: BTreeMap::new(), ..Tuning::of(&bench.settings) };
    bench.machine.tune(bench.now, &tuning);
    delivered_in(&mut bench, 5);
    assert_eq!(bench.received.len(), 5_000, "each once");
    for key in 0..50 {
        let of_key = bench.received.iter().filter(|position| position.0 % 50 == key);
        assert!(of_key.is_sorted(), "the order of each key is kept");
    }
    let mut positions = bench.received.clone();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 5_000);
}

#[test]
fn a_sink_that_gets_one_of_a_key_at_a_time_is_limited_as_well() {
    let mut bench = Bench::with(8, |_, all| all.rate_limits = limited(50)).one_entry_a_key();
    for number in 0..500 {
        bench.publish_event(draft().key(format!("k{}", number % 5)));
    }
    bench.take_lanes();
    let delivered = delivered_in(&mut bench, 4);
    assert!((150..=210).contains(&delivered), "{delivered} in 4 s at 50 a second");
}

#[test]
fn a_smaller_batch_counts_from_the_next_read_on() {
    let mut bench = with_events(1, |settings| settings.batch = 500);
    bench.read_on();
    assert_eq!(bench.sends.front().map(|batch| batch.entries.len()), Some(500));

    let mut bench = with_events(1, |settings| settings.batch = 500);
    let tuning = Tuning { batch: 7, ..Tuning::of(&bench.settings) };
    bench.machine.tune(bench.now, &tuning);
    bench.read_on();
    assert_eq!(bench.sends.front().map(|batch| batch.entries.len()), Some(7));
}
