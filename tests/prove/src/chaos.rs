//! What is done to the stage: one disturbance after the other, drawn from a shuffled deck so that each comes often.

use std::{
    fmt,
    time::{Duration, Instant},
};

use anyhow::Result;
use fastrand::Rng;
use posthaste_services::postgres::StopMode;

use crate::{relay::LEASE_SECONDS, stage::Stage};

#[derive(Clone, Copy, Debug)]
enum Disturbance {
    KillRelay,
    KillAllRelays,
    FreezeRelay,
    HandOver,
    CrashPostgres,
    KillKafka,
}

const DECK: [Disturbance; 8] = [
    Disturbance::KillRelay,
    Disturbance::CrashPostgres,
    Disturbance::FreezeRelay,
    Disturbance::KillKafka,
    Disturbance::KillRelay,
    Disturbance::HandOver,
    Disturbance::CrashPostgres,
    Disturbance::KillAllRelays,
];

/// How often each was done.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) kills: u64,
    pub(crate) freezes: u64,
    pub(crate) hand_overs: u64,
    pub(crate) postgres_crashes: u64,
    pub(crate) kafka_kills: u64,
}

impl Done {
    /// How many of them can make relays send again what was in flight.
    pub(crate) fn repeating(&self) -> u64 {
        self.kills + self.freezes + self.postgres_crashes + self.kafka_kills
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, freezes, hand_overs, postgres_crashes, kafka_kills } = self;
        write!(
            f,
            "{kills} relays killed, {freezes} frozen beyond their lease, {hand_overs} handed over; PostgreSQL crashed \
             {postgres_crashes} times, Kafka killed {kafka_kills} times"
        )
    }
}

/// Disturbs for so long.
pub(crate) async fn run(stage: &mut Stage, time: Duration, rng: &mut Rng) -> Result<Done> {
    let (began, mut done, mut deck) = (Instant::now(), Done::default(), Vec::new());
    while began.elapsed() < time {
        // Between two disturbances things go on; how long is a part of the chance.
        tokio::time::sleep(Duration::from_millis(rng.u64(800..3_000))).await;
        if deck.is_empty() {
            deck = DECK.to_vec();
            rng.shuffle(&mut deck);
        }
        let Some(disturbance) = deck.pop() else { continue };
        let relay = rng.usize(..stage.relays.len());
        println!("  {:>5.1} s  {disturbance:?}", began.elapsed().as_secs_f64());
        disturb(stage, disturbance, relay, rng, &mut done).await?;
    }
    Ok(done)
}

async fn disturb(
    stage: &mut Stage,
    disturbance: Disturbance,
    relay: usize,
    rng: &mut Rng,
    done: &mut Done,
) -> Result<()> {
    match disturbance {
        Disturbance::KillRelay => {
            stage.relays[relay].kill()?;
            done.kills += 1;
            tokio::time::sleep(Duration::from_millis(rng.u64(..4_000))).await;
            stage.relays[relay].start_again()?;
        }
        Disturbance::KillAllRelays => {
            for relay in &mut stage.relays {
                relay.kill()?;
                done.kills += 1;
            }
            stage.relays.iter_mut().try_for_each(|relay| relay.start_again())?;
        }
        Disturbance::FreezeRelay => {
            stage.relays[relay].freeze();
            done.freezes += 1;
            let beyond = Duration::from_secs(LEASE_SECONDS) + Duration::from_millis(rng.u64(500..3_000));
            tokio::time::sleep(beyond).await;
            stage.relays[relay].thaw();
        }
        Disturbance::HandOver => {
            stage.relays[relay].hand_over()?;
            done.hand_overs += 1;
            stage.relays[relay].start_again()?;
        }
        Disturbance::CrashPostgres => {
            stage.postgres.restart(StopMode::Immediate)?;
            done.postgres_crashes += 1;
        }
        Disturbance::KillKafka => {
            stage.kafka.kill()?;
            done.kafka_kills += 1;
            tokio::time::sleep(Duration::from_millis(rng.u64(..3_000))).await;
            stage.kafka.start_again()?;
        }
    }
    Ok(())
}
