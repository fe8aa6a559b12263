//! Whatever happens, the machine neither spins nor falls asleep for good.

use std::time::Duration;

use fastrand::Rng;
use posthaste_core::{Delivery, Entry, Fault, Limit, OperatorAct, Order, RelayId};

use crate::bench::{Bench, NAME, draft, well};

/// A bench with small bounds, so that every limit is met often.
fn small(rng: &mut Rng) -> Bench {
    let (page, order) = (rng.usize(1..=5), if rng.u8(..4) == 0 { Order::None } else { Order::Key });
    let lanes = rng.u8(1..=4);
    let bench = Bench::with(lanes, |subscription, settings| {
        subscription.order = order;
        settings.page = Limit { entries: page, bytes: 100_000 };
        settings.buffer = Limit { entries: page * rng.usize(1..=3), bytes: 300_000 };
        settings.batch = rng.usize(1..=4);
        settings.concurrency = rng.usize(1..=4);
        settings.hot_marks = rng.usize(..=3);
        settings.settle_interval = Duration::from_millis(rng.u64(..200));
        settings.move_interval = Duration::from_secs(rng.u64(1..=60));
    });
    bench.seeded(rng.u64(..))
}

fn any_fault(rng: &mut Rng) -> Delivery {
    match rng.u8(..12) {
        0 => Delivery::Failed(Fault::transient("not now")),
        1 => Delivery::Failed(Fault::permanent("never")),
        2 => Delivery::Failed(Fault::unavailable("down")),
        3 => Delivery::Failed(Fault::throttled(Duration::from_secs(2), "slowly")),
        4 => Delivery::NotSent,
        _ => Delivery::Delivered,
    }
}

fn publish_some(bench: &mut Bench, rng: &mut Rng) {
    for _ in 0..rng.usize(1..4) {
        let draft = match rng.u8(..4) {
            0 => draft(),
            1 => draft().key(format!("k{}", rng.u8(..3))).deliver_in(Duration::from_secs(rng.u64(..5))),
            _ => draft().key(format!("k{}", rng.u8(..3))),
        };
        let entry = bench.publish_event(draft);
        if rng.bool() {
            bench.offer(&entry);
        }
    }
}

/// One thing that can happen to a relay. What is on its way is answered well, badly, late or not at all.
fn happen(bench: &mut Bench, rng: &mut Rng) {
    match rng.u8(..12) {
        0 | 1 => publish_some(bench, rng),
        2 => bench.machine.ring(),
        3 => bench.renew(),
        4 => bench.pass(Duration::from_millis(rng.u64(..5_000))),
        5 => {
            _ = bench.hold_as("other");
            bench.store.leave(&RelayId("other".to_owned()));
        }
        6 => {
            let act = if rng.bool() { OperatorAct::Pause } else { OperatorAct::Resume };
            bench.store.act(bench.db_now(), &act(NAME.to_owned()), "ada").unwrap();
        }
        7 if rng.u8(..10) == 0 => bench.machine.lost(),
        _ => answer_one(bench, rng),
    }
}

fn answer_one(bench: &mut Bench, rng: &mut Rng) {
    let lost = rng.u8(..6) == 0;
    if let Some(read) = bench.reads.pop_front() {
        let page = (!lost).then(|| bench.store.read(bench.db_now(), &read));
        bench.machine.page(bench.now, page);
    } else if let Some(acts) = bench.appends.pop_front() {
        let answers = bench.apply(&acts);
        bench.machine.appended(bench.now, (!lost).then_some(answers));
    } else if let Some(batch) = bench.sends.pop_front() {
        bench.answer_send(batch, |_: &Entry| any_fault(rng));
    } else if let Some(entry) = bench.hot_sends.pop_front() {
        bench.answer_hot(&entry, any_fault(rng));
    } else if bench.pings > 0 {
        bench.pings -= 1;
        let answer = if lost { Err(Fault::unavailable("down")) } else { Ok(()) };
        bench.machine.pinged(bench.now, answer);
    }
}

/// Whether it waits for somebody else: for an answer, or for its lease.
fn awaits_somebody(bench: &Bench) -> bool {
    let log = !bench.reads.is_empty() || !bench.appends.is_empty();
    let sink = !bench.sends.is_empty() || !bench.hot_sends.is_empty() || bench.pings > 0;
    log || sink || bench.machine.held().is_empty() || bench.deadline <= bench.now
}

// pitfalls S11, S12, S18, S22, B10
#[test]
fn it_never_spins_and_never_sleeps_while_there_is_work() {
    for seed in 0..400 {
        let mut rng = Rng::with_seed(seed);
        let mut bench = small(&mut rng);
        for step in 0..150 {
            happen(&mut bench, &mut rng);
            bench.renewals = 0;
            bench.drain();

            let wake = bench.machine.wake_at();
            assert!(wake.is_none_or(|wake| wake > bench.now), "seed {seed}, step {step}: it would spin");
            let longest = bench.now + Duration::from_secs(16);
            let awake = awaits_somebody(&bench) || wake.is_some_and(|wake| wake <= longest);
            assert!(awake, "seed {seed}, step {step}: it sleeps until {wake:?}");
        }
    }
}

// pitfalls L9, L11, S5, S22
#[test]
fn after_any_trouble_everything_is_delivered_or_dead() {
    for seed in 0..100 {
        let mut rng = Rng::with_seed(seed);
        let mut bench = small(&mut rng);
        for _ in 0..150 {
            happen(&mut bench, &mut rng);
            bench.drain();
        }
        bench.store.act(bench.db_now(), &OperatorAct::Resume(NAME.to_owned()), "ada").unwrap();

        bench.run_for(Duration::from_secs(120), well);

        let status = &bench.store.status(bench.db_now()).subscriptions[0];
        assert_eq!((status.pending, status.failed, status.delayed), (0, 0, 0), "seed {seed}");
    }
}
