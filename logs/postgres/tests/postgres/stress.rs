//! Ten seconds of everything at once: writers that commit, roll back, wait for each other and take their time; relays that come and
//! go. Whatever was committed is delivered, in the order of its key, and nothing else is.
//!
//! `POSTHASTE_TEST_SEED` gives the writers and the faults a seed; a failure tells which one it was.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use fastrand::Rng;
use posthaste_core::{
    EventId, Inspect, Lane, Limit, Order, Position, Retention, RetryPolicy, Subscription, SystemClock,
};
use posthaste_postgres::{PostgresLog, PostgresOptions};
use posthaste_relay::{Relay, RelayBuilder, Settings};
use posthaste_services::postgres_url;
use posthaste_testkit::{
    FlakySink,
    flaky::Odds,
    history::{self, Committed, History, SubscriptionHistory},
};
use sqlx::{AssertSqlSafe, PgConnection, Row};
use tokio::{task::JoinSet, time::timeout};

use crate::{
    fixture::{Fixture, SUB, number, run},
    schema::Schema,
};

const WRITERS: u64 = 8;
const RELAYS: usize = 3;
const KEYS: u64 = 12;
const LOAD: Duration = Duration::from_secs(10);
/// Far longer than the rest takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_committed_is_delivered_in_order_and_nothing_else() {
    let seed = std::env::var("POSTHASTE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    let stage = Arc::new(Stage::new(seed).await);
    let mut relays = Vec::new();
    for _ in 0..RELAYS {
        relays.push(stage.relay().await);
    }

    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let writer = Writer::new(&stage, seed.wrapping_add(number)).await;
        writers.spawn(writer.run());
    }
    let mut auditor = JoinSet::new();
    auditor.spawn(audit(Arc::clone(&stage)));
    let mut rng = Rng::with_seed(seed);
    while !writers.is_empty() {
        exchange(&stage, &mut relays, &mut rng).await;
        while let Some(done) = writers.try_join_next() {
            done.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
    }
    let delivered = timeout(PATIENCE, stage.delivered()).await;
    stage.over.store(1, Ordering::SeqCst);
    let audits = auditor.join_next().await.unwrap().unwrap_or_else(|error| panic!("seed {seed}: {error}"));

    let report = history::check(&stage.history().await);
    assert!(report.is_clean() && delivered.is_ok(), "seed {seed}: {report}");
    assert!(audits > 0);
    let committed = stage.told().committed.len();
    assert!(committed > 200, "seed {seed}: only {committed} events in {LOAD:?}");
}

/// Now and then a relay dies or stops, and another one comes.
async fn exchange(stage: &Stage, relays: &mut Vec<Relay>, rng: &mut Rng) {
    // If nothing comes for a while, for all that was killed, the next one comes all the same.
    let more = stage.sink.received().len() + rng.usize(50..400);
    let _ = timeout(Duration::from_millis(1_500), stage.sink.wait_for(more)).await;
    let gone = relays.swap_remove(rng.usize(..relays.len()));
    if rng.bool() {
        drop(gone);
    } else {
        gone.stop().await;
    }
    relays.push(stage.relay().await);
}

struct Stage {
    schema: Schema,
    sink: FlakySink,
    seed: u64,
    until: Instant,
    last_id: AtomicU64,
    over: AtomicU64,
    told: Mutex<Told>,
}

/// What the writers know.
#[derive(Default)]
struct Told {
    committed: Vec<Committed>,
    rolled_back: BTreeSet<EventId>,
}

impl Stage {
    async fn new(seed: u64) -> Self {
        let schema = Schema::new();
        let options = PostgresOptions { lanes: Some(16), migrate: true, ..options(&schema) };
        PostgresLog::open(&postgres_url(), options).await.unwrap();
        let sink = FlakySink::new(Arc::new(SystemClock));
        sink.fail_by_chance(seed, Odds { transient: 5, permanent: 0, lost_answer: 5 });
        let until = Instant::now() + LOAD;
        let (last_id, over, told) = (AtomicU64::new(1), AtomicU64::new(0), Mutex::default());
        Self { schema, sink, seed, until, last_id, over, told }
    }

    /// A relay with a handle of its own, small pages, and a lease that is over soon.
    async fn relay(&self) -> Relay {
        let log = PostgresLog::open(&postgres_url(), options(&self.schema)).await.unwrap();
        let soon = Duration::from_millis(300);
        let settings = Settings {
            lease: Duration::from_millis(800),
            page: Limit { entries: 40, bytes: 1 << 20 },
            buffer: Limit { entries: 200, bytes: 1 << 22 },
            batch: 15,
            settle_interval: Duration::from_millis(5),
            poll_max: Duration::from_millis(20),
            move_interval: soon,
            prune_interval: soon,
            retention: Retention { events: soon, lines: soon, journal: soon, dead: soon, step: 50 },
            ..Settings::default()
        };
        let retry = RetryPolicy {
            base: Duration::from_millis(5),
            max: Duration::from_millis(50),
            max_attempts: 1_000,
            ..RetryPolicy::default()
        };
        let subscription = Subscription { retry, ..Subscription::new(SUB) };
        let builder = RelayBuilder::new(Arc::new(log)).settings(settings);
        builder.subscribe(subscription, Arc::new(self.sink.clone())).start().await.unwrap()
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all_told(&self) -> (Vec<Committed>, BTreeSet<EventId>) {
        let told = self.told();
        (told.committed.clone(), told.rolled_back.clone())
    }

    /// Waits until everything that was committed has been received.
    async fn delivered(&self) {
        loop {
            let received = self.sink.received();
            let ids: BTreeSet<EventId> = received.iter().map(|receipt| receipt.id).collect();
            if self.told().committed.iter().all(|event| ids.contains(&event.id)) {
                return;
            }
            self.sink.wait_for(received.len() + 1).await;
        }
    }

    async fn history(&self) -> History {
        let log = PostgresLog::open(&postgres_url(), options(&self.schema)).await.unwrap();
        let (committed, rolled_back) = self.all_told();
        let subscription = SubscriptionHistory {
            name: SUB.to_owned(),
            order: Order::Key,
            received: self.sink.received().iter().map(Into::into).collect(),
            dead: history::all_dead(&log, SUB).await.unwrap(),
            finished: true,
            ..SubscriptionHistory::default()
        };
        History { committed, rolled_back, subscriptions: vec![subscription] }
    }
}

fn options(schema: &Schema) -> PostgresOptions {
    PostgresOptions { schema: Some(schema.name.clone()), ..PostgresOptions::default() }
}

/// Asks again and again how many events are ahead of the cursors, which is found by indexes, and counts them one by one as well. Answers
/// how often.
async fn audit(stage: Arc<Stage>) -> u32 {
    let mut connection = Fixture::connect_to(&stage.schema.name).await;
    let log = PostgresLog::open(&postgres_url(), options(&stage.schema)).await.unwrap();
    let mut audits = 0;
    while stage.over.load(Ordering::SeqCst) == 0 {
        let one_by_one =
            "select count(*) from outbox o join outbox_cursors c on c.lane = outbox_lane(o.key, o.id)
            where not outbox_passed(o.xid, o.position, c.from_seen, c.to_seen, c.after_position)";
        run(&mut connection, "begin isolation level repeatable read").await.unwrap();
        let counted = number(&mut connection, one_by_one).await;
        let found = number(&mut connection, "select count(*) from outbox_ahead").await;
        let words =
            number(&mut connection, "select count(*) from outbox_standing where word = 'pending'").await;
        run(&mut connection, "commit").await.unwrap();
        assert_eq!((found, words), (counted, counted));
        assert_eq!(log.status().await.unwrap().subscriptions.len(), 1);
        audits += 1;
    }
    audits
}

/// One connection that writes, in transactions of every kind. Of one key only one writes at a time, as an application that keeps an
/// order does.
struct Writer {
    stage: Arc<Stage>,
    connection: PgConnection,
    rng: Rng,
    /// Transactions that were prepared and wait for a decision, each with its events.
    prepared: Vec<(String, Vec<Committed>)>,
    is_slow: bool,
}

impl Writer {
    async fn new(stage: &Arc<Stage>, seed: u64) -> Self {
        let mut connection = Fixture::connect_to(&stage.schema.name).await;
        // A transaction that it has prepared itself may have the key that it wants.
        run(&mut connection, "set lock_timeout = '50ms'").await.unwrap();
        Self {
            stage: Arc::clone(stage),
            connection,
            rng: Rng::with_seed(seed),
            prepared: Vec::new(),
            is_slow: seed == stage.seed,
        }
    }

    async fn run(mut self) {
        let mut slow = None;
        if self.is_slow {
            // One transaction is open all the time, with a key of its own.
            let mut other = Self::new(&self.stage, self.stage.seed.wrapping_add(1_000)).await;
            run(&mut other.connection, "begin").await.unwrap();
            let event = other.insert(KEYS).await.unwrap();
            slow = Some((other, event));
        }
        while Instant::now() < self.stage.until {
            self.transaction().await;
            if self.rng.u8(..10) == 0 {
                self.decide().await;
            }
        }
        while !self.prepared.is_empty() {
            self.decide().await;
        }
        if let Some((mut other, event)) = slow {
            run(&mut other.connection, "commit").await.unwrap();
            self.stage.told().committed.push(event);
        }
    }

    async fn transaction(&mut self) {
        let level = ["read committed", "repeatable read", "serializable"][self.rng.usize(..3)];
        run(&mut self.connection, &format!("begin isolation level {level}")).await.unwrap();
        if self.rng.bool() {
            // Its transaction id is older than the events of others that commit before it.
            run(&mut self.connection, "select pg_current_xact_id()").await.unwrap();
        }
        let (mut kept, mut undone) = (Vec::new(), Vec::new());
        let worked = self.work(&mut kept, &mut undone).await;
        self.stage.told().rolled_back.extend(undone.iter().map(|event: &Committed| event.id));
        match worked {
            Ok(()) if self.rng.u8(..10) < 2 => self.end("rollback", kept, false).await,
            Ok(()) if self.rng.u8(..10) == 0 => {
                let name = format!("'{}.{}'", self.stage.schema.name, self.rng.u64(..));
                self.end(&format!("prepare transaction {name}"), Vec::new(), true).await;
                self.prepared.push((name, kept));
            }
            Ok(()) => self.end("commit", kept, true).await,
            // Of two that serialise, or that wait for each other, one has to give up.
            Err(_) => self.end("rollback", kept, false).await,
        }
    }

    /// Inserts events of one or two keys, some in savepoints that are taken back.
    async fn work(&mut self, kept: &mut Vec<Committed>, undone: &mut Vec<Committed>) -> sqlx::Result<()> {
        let mut keys = vec![self.rng.u64(..KEYS), self.rng.u64(..KEYS)];
        keys.sort_unstable();
        keys.dedup();
        keys.truncate(self.rng.usize(1..=2));
        for key in keys {
            run(&mut self.connection, &format!("select pg_advisory_xact_lock(77, {key})")).await?;
            for _ in 0..self.rng.usize(1..=4) {
                let taken_back = self.rng.u8(..6) == 0;
                if taken_back {
                    run(&mut self.connection, "savepoint s").await?;
                }
                let event = self.insert(key).await?;
                if taken_back {
                    undone.push(event);
                    run(&mut self.connection, "rollback to s").await?;
                } else {
                    kept.push(event);
                }
            }
        }
        Ok(())
    }

    async fn insert(&mut self, key: u64) -> sqlx::Result<Committed> {
        let number = self.stage.last_id.fetch_add(1, Ordering::SeqCst);
        let id = EventId::from_bytes(u128::from(number).to_be_bytes());
        let key = format!("key-{key}");
        let insert = format!(
            "insert into outbox (id, topic, event_type, key, payload) values ('{id}', 't', 'e', '{key}', '1')
             returning position, outbox_lane(key, id)"
        );
        let row = sqlx::query(AssertSqlSafe(insert)).fetch_one(&mut self.connection).await?;
        let lane = Lane(u8::try_from(row.get::<i16, _>(1)).unwrap());
        Ok(Committed { id, position: Position(row.get(0)), lane, key: Some(key), deliver_after: None })
    }

    /// Ends the transaction; what the database does not take it rolls back.
    async fn end(&mut self, how: &str, events: Vec<Committed>, commits: bool) {
        let done = run(&mut self.connection, how).await.is_ok();
        if !done {
            run(&mut self.connection, "rollback").await.unwrap();
        }
        let mut told = self.stage.told();
        if done && commits {
            told.committed.extend(events);
        } else {
            told.rolled_back.extend(events.iter().map(|event| event.id));
        }
    }

    /// Decides about the oldest transaction that was prepared.
    async fn decide(&mut self) {
        if self.prepared.is_empty() {
            return;
        }
        let (name, events) = self.prepared.remove(0);
        let commits = self.rng.bool();
        let how = if commits { "commit" } else { "rollback" };
        self.end(&format!("{how} prepared {name}"), events, commits).await;
    }
}
