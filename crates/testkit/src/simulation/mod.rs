//! The simulation: several relays, one log in memory, sinks that fail, and a schedule made from a seed.
//!
//! It drives the same [`Machine`](posthaste_relay::machine::Machine) as production does. Every request and every
//! answer travels by itself: it may be late, lost, or overtaken by a crash. After the schedule everything is healed,
//! the world runs until it is quiet, and the history is judged. A seed replays exactly one schedule.

mod plan;
mod relay;
mod sink;
mod steps;
mod transit;
mod travel;
mod verdict;
mod world;

use std::time::Duration;

use fastrand::Rng;

pub use self::verdict::Breach;
use self::{plan::Plan, world::World};

/// How one schedule went.
#[derive(Debug, Default, Clone)]
pub struct Run {
    /// The seed that made it.
    pub seed: u64,
    /// What was broken. Empty if every rule held.
    pub breaches: Vec<Breach>,
    /// Events committed.
    pub events: u64,
    /// Deliveries, repeats included.
    pub deliveries: u64,
    /// Deliveries beyond the first of an event in a subscription.
    pub repeats: u64,
    /// Relays that crashed.
    pub crashes: u64,
    /// Steps of the schedule.
    pub steps: u64,
}

/// Runs the schedule that this seed makes.
#[must_use]
pub fn run(seed: u64) -> Run {
    let mut rng = Rng::with_seed(seed);
    let plan = Plan::draw(&mut rng);
    let mut world = World::new(&plan, rng);
    for _ in 0..plan.steps {
        world.step(&plan);
        if !world.breaches.is_empty() {
            // What follows a breach says nothing new.
            return verdict::cut_short(seed, world);
        }
    }
    world.heal();
    let quiet = world.settle_down();
    verdict::judge(seed, &world, quiet)
}

/// How long a world may take to become quiet after it is healed, in its own time.
const QUIET_WITHIN: Duration = Duration::from_secs(600);
