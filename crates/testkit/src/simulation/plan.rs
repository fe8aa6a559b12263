//! What kind of world a seed makes: how many of everything, and what goes wrong how often.

use std::time::Duration;

use fastrand::Rng;
use posthaste_core::{Limit, OnDead, Order, RetryPolicy, Start, Subscription};
use posthaste_relay::Settings;

/// What a seed decides before the schedule begins.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) lanes: u8,
    pub(super) keys: u32,
    pub(super) relays: usize,
    pub(super) steps: u32,
    pub(super) subscriptions: Vec<Subscription>,
    pub(super) settings: Settings,
    /// Of so many chances to go on, a batch at a sink takes one: sinks are slow, and everything else overtakes them.
    pub(super) slowness: u32,
    /// How likely each trouble is in a step, out of 1,000.
    pub(super) odds: Odds,
}

/// How likely each trouble is in a step, out of 1,000.
#[derive(Clone, Copy, Debug)]
pub(super) struct Odds {
    pub(super) publish: u32,
    pub(super) crash: u32,
    pub(super) freeze: u32,
    pub(super) retire: u32,
    pub(super) lose: u32,
    pub(super) outage: u32,
    pub(super) clock_jump: u32,
    pub(super) long_wait: u32,
    pub(super) operator: u32,
    pub(super) prune: u32,
    pub(super) refuse: u32,
}

impl Plan {
    pub(super) fn draw(rng: &mut Rng) -> Self {
        let calm = rng.u8(..10) == 0;
        let mut often = |most: u32| if calm || rng.bool() { 0 } else { rng.u32(..=most) };
        let odds = Odds {
            publish: 120,
            crash: often(25),
            freeze: often(15),
            retire: often(15),
            lose: often(80),
            outage: often(20),
            clock_jump: often(15),
            long_wait: often(20),
            operator: often(25),
            prune: often(10),
            refuse: often(10),
        };
        let subscriptions = (0..rng.usize(1..=2)).map(|index| subscription(index, rng)).collect();
        Self {
            lanes: rng.u8(1..=4),
            keys: rng.u32(1..=5),
            relays: rng.usize(1..=3),
            steps: rng.u32(200..=1_200),
            subscriptions,
            settings: settings(rng),
            slowness: if rng.u8(..3) == 0 { rng.u32(2..=30) } else { 1 },
            odds,
        }
    }
}

fn subscription(index: usize, rng: &mut Rng) -> Subscription {
    let mut subscription = Subscription::new(format!("s{index}"));
    subscription.order = if rng.u8(..6) == 0 { Order::None } else { Order::Key };
    subscription.on_dead = if rng.u8(..3) == 0 { OnDead::Hold } else { OnDead::Continue };
    subscription.start = if rng.u8(..5) == 0 { Start::Now } else { Start::Beginning };
    subscription.retry =
        RetryPolicy { max_attempts: rng.u32(2..=5), max: Duration::from_secs(5), ..RetryPolicy::default() };
    subscription
}

/// Small bounds, so that every limit is met often.
fn settings(rng: &mut Rng) -> Settings {
    let page = rng.usize(1..=6);
    Settings {
        page: Limit { entries: page, bytes: 100_000 },
        buffer: Limit { entries: page * rng.usize(1..=3), bytes: 1_000_000 },
        batch: rng.usize(1..=4),
        concurrency: rng.usize(1..=8),
        settle_interval: Duration::from_millis(rng.u64(0..=200)),
        hot_marks: rng.usize(1..=3),
        move_interval: Duration::from_secs(rng.u64(1..=60)),
        ..Settings::default()
    }
}
