//! How often the log is asked and written to: few statements under load, hardly any when idle.

use std::time::Duration;

use posthaste_core::{ActKind, Lane};

use crate::bench::{Bench, NAME, key_in, positions, well};

/// How many lines of a lane only move its cursor.
fn moves(bench: &Bench, lane: Lane) -> usize {
    bench.store.lines(NAME, lane).filter(|line| line.kind == ActKind::Settled).count()
}

// pitfalls B14, B15, U17
#[test]
fn draining_ten_thousand_events_takes_few_statements() {
    let mut bench = Bench::new(64);
    for number in 0..10_000 {
        bench.publish(&format!("k{}", number % 500));
    }

    bench.run_for(Duration::from_secs(1), well);

    let (reads, appends) = bench.statements;
    assert_eq!(bench.received.len(), 10_000);
    assert!(reads + appends < 500, "{reads} reads and {appends} appends");
}

// pitfalls B14, U17: all of it in one lane, where batches are settled one after the other
#[test]
fn draining_one_lane_takes_few_statements_too() {
    let mut bench = Bench::new(64);
    for _ in 0..10_000 {
        bench.publish("a");
    }

    bench.run_for(Duration::from_secs(1), well);

    let (reads, appends) = bench.statements;
    assert_eq!(bench.received.len(), 10_000);
    assert!(reads + appends < 100, "{reads} reads and {appends} appends");
}

// pitfalls D21, B15
#[test]
fn without_trouble_everything_is_delivered_once_and_in_order() {
    let mut bench = Bench::new(8);
    let published: Vec<_> = (0..1_000).map(|_| bench.publish("a")).collect();

    bench.run_for(Duration::from_secs(1), well);

    assert_eq!(bench.received, published);
}

// pitfalls B16, S11
#[test]
fn an_idle_hour_is_a_read_a_second_and_no_line() {
    let mut bench = Bench::new(8);
    bench.publish("a");
    bench.run_for(Duration::from_secs(120), well);
    let before = bench.statements;

    bench.run_for(Duration::from_secs(3_600), well);

    let reads = bench.statements.0 - before.0;
    assert!((3_500..=3_700).contains(&reads), "{reads} reads");
    assert_eq!(bench.statements.1, before.1, "where nothing moves nothing is written");
}

// pitfall B16
#[test]
fn waits_grow_with_the_silence_and_an_event_ends_it() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let (min, max) = (bench.settings.poll_min, bench.settings.poll_max);
    let (quiet_since, mut reads) = (bench.now, 0);
    while bench.now.since(quiet_since) < 8 * max {
        let wake = bench.machine.wake_at().unwrap();
        let wait = (bench.now.since(quiet_since) / 8).clamp(min, max);
        assert_eq!(wake.since(bench.now), wait, "after {:?}", bench.now.since(quiet_since));
        bench.now = wake;
        bench.renew();
        bench.run(well);
        reads += 1;
    }
    assert!((50..=70).contains(&reads), "{reads} reads until there is one a second");
    assert_eq!(bench.machine.wake_at().unwrap().since(bench.now), max);

    bench.publish("a");
    bench.now = bench.machine.wake_at().unwrap();
    bench.run(well);

    let wake = bench.machine.wake_at().unwrap();
    assert_eq!(wake.since(bench.now), bench.settings.poll_min);
}

// pitfall S21
#[test]
fn a_poll_that_falls_due_on_the_way_to_sleep_is_not_slept_over() {
    let mut bench = Bench::new(1);
    bench.renew();
    bench.run(well);
    let due = bench.now + bench.settings.poll_min;

    // Whoever drives it does something else for a while after the last poll, and asks only then.
    bench.now = due + Duration::from_micros(1);

    assert_eq!(bench.machine.wake_at(), Some(due));
    bench.publish("a");
    bench.run(well);
    assert_eq!(bench.received.len(), 1);
}

// pitfalls S10, S21
#[test]
fn an_event_that_nobody_rings_for_is_found_at_the_next_poll() {
    let mut bench = Bench::new(1);
    bench.run_for(Duration::from_secs(60), well);
    bench.publish("a");

    bench.run_for(bench.settings.poll_max, well);

    assert_eq!(bench.received.len(), 1);
}

// pitfall S21
#[test]
fn a_ring_during_a_read_is_followed_by_another_read() {
    let mut bench = Bench::new(1);
    bench.run_for(Duration::from_secs(60), well);
    bench.machine.ring();
    bench.drain();
    let under_way = bench.reads.pop_front().unwrap();

    bench.machine.ring();
    bench.answer_read(&under_way);
    // What that read did not see any more.
    bench.publish("a");
    bench.run(well);

    assert_eq!(bench.received.len(), 1);
    assert!(bench.machine.poll(bench.now).is_none(), "and then it waits");
}

#[test]
fn a_ring_makes_it_read_now() {
    let mut bench = Bench::new(1);
    bench.run_for(Duration::from_secs(60), well);
    bench.publish("a");

    bench.machine.ring();
    bench.run(well);

    assert_eq!(bench.received.len(), 1);
}

#[test]
fn lanes_without_traffic_note_about_once_a_minute_how_far_they_have_read() {
    let mut bench = Bench::new(4);
    let busy = key_in(Lane(0), 4);
    bench.take_lanes();

    for _ in 0..60 {
        bench.publish(&busy);
        bench.run_for(Duration::from_secs(10), well);
    }

    for lane in [Lane(1), Lane(2), Lane(3)] {
        let moves = moves(&bench, lane);
        assert!((8..=11).contains(&moves), "{moves} lines of lane {lane} in ten minutes");
    }
    assert!(bench.last_line(Lane(3)).cursor.after.0 >= 50, "so that pruning and a take-over get on");
}

// pitfalls B15, S4
#[test]
fn where_few_may_send_at_once_every_lane_has_its_turn() {
    let mut bench = Bench::with(8, |_, settings| {
        settings.concurrency = 2;
        settings.batch = 1;
    });
    let keys: Vec<String> = (0..8).map(|lane| key_in(Lane(lane), 8)).collect();
    for key in keys.iter().cycle().take(80) {
        bench.publish(key);
    }
    bench.take_lanes();
    let mut turns = [0; 8];

    for _ in 0..40 {
        bench.settle();
        bench.read_on();
        assert!(bench.sends.len() <= 2);
        let batch = bench.sends.pop_front().unwrap();
        turns[usize::from(batch.lane.0)] += 1;
        bench.answer_send(batch, well);
    }

    assert!(turns.iter().all(|turns| (4..=6).contains(turns)), "{turns:?}");
}

#[test]
fn settlements_of_many_lanes_are_gathered() {
    let mut bench = Bench::new(16);
    for lane in 0..16 {
        bench.publish(&key_in(Lane(lane), 16));
    }
    bench.take_lanes();
    let before = bench.statements.1;

    bench.run(well);
    assert_eq!(bench.statements.1, before, "nothing waits for the settlement");
    bench.pass(bench.settings.settle_interval);
    bench.run(well);

    assert_eq!(bench.statements.1 - before, 1);
    assert!((0..16).all(|lane| bench.last_line(Lane(lane)).delivered == 1));
}

// pitfall B15: in a log with snapshots each place at which a line stands is one more row to keep.
#[test]
fn lanes_that_are_settled_together_stand_at_one_place() {
    let mut bench = Bench::new(4);
    bench.take_lanes();
    for lane in (0..4).map(Lane) {
        bench.publish(&key_in(lane, 4));
        bench.machine.ring();
        bench.run(well);
    }

    bench.run_for(Duration::from_millis(150), well);

    let cursors: Vec<_> = (0..4).map(|lane| bench.last_line(Lane(lane)).cursor).collect();
    assert_eq!(bench.received.len(), 4);
    assert!(cursors.iter().all(|cursor| *cursor == cursors[0]), "{cursors:?}");
}

// pitfall D20: and what a crash may repeat is no more for it.
#[test]
fn what_follows_is_sent_while_a_settlement_is_written_up_to_one_batch() {
    let mut bench = Bench::with(1, |_, settings| settings.batch = 3);
    bench.publish("a");
    bench.take_lanes();
    let batch = bench.send();
    bench.answer_send(batch, well);
    bench.pass(Duration::from_millis(150));
    bench.drain();
    assert_eq!(bench.appends.len(), 1, "the settlement is on its way");

    let more = [bench.publish("a"), bench.publish("a")];
    bench.machine.ring();
    let batch = bench.send();
    assert_eq!(positions(&batch.entries), more);
    bench.answer_send(batch, well);
    let last = bench.publish("a");
    bench.machine.ring();
    bench.read_on();
    assert!(bench.sends.is_empty(), "that would be four that are not settled");
    bench.append();

    assert_eq!(positions(&bench.send().entries), [last]);
}
