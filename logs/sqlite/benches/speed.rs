//! How fast reading, settling and publishing are, to be run by hand: `cargo bench -p posthaste-sqlite`, or only a
//! part of it: `cargo bench -p posthaste-sqlite --bench speed -- reading`.
//!
//! Reading is compared with the barest loop over the same columns. Processor time is told beside the time that passed,
//! because only the first means something on a busy machine.

#![expect(clippy::unwrap_used, reason = "a measurement may panic")]

use std::time::{Duration, Instant};

use futures_util::TryStreamExt;
use posthaste_core::{
    Act, ActKind, Appended, Cursor, Event, EventId, EventRules, Hold, LaneSet, Lease, Limit, Log, Position,
    Read, RelayId, Retention, Stamp, Subscription, Timestamp, Upkeep,
};
use posthaste_sqlite::{SqliteLog, SqliteOptions};
use sqlx::{ConnectOptions, Row};

const ROWS: i64 = 1_000_000;
const PAGE: usize = 4_096;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
        let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
        if wanted("reading") {
            reading().await;
        }
        if wanted("settling") {
            settling().await;
        }
        if wanted("publishing") {
            publishing().await;
        }
        if wanted("pruning") {
            pruning().await;
        }
        if wanted("contending") {
            contending().await;
        }
    });
}

async fn reading() {
    let (_folder, log) = subscribed().await;
    fill(&log).await;

    for _ in 0..3 {
        report("bare select of the same columns", ROWS, bare(&log).await);
        report("read", ROWS, read_all(&log, LaneSet::first(64)).await);
    }
    report("read of one lane in 64 (rows passed over)", ROWS, read_all(&log, LaneSet::first(1)).await);
    report("read with nothing new", 20_000, idle(&log, 20_000).await);
}

async fn settling() {
    let (_folder, log) = subscribed().await;

    for lanes in [1, 8, 64] {
        let what = format!("append of {lanes} acts");
        report(&what, 2_000, settle(&log, lanes, 2_000).await);
    }
}

async fn publishing() {
    let (_folder, log) = subscribed().await;

    report("publish one, begin to commit", 500, publish(&log, 500, 1).await);
    report("publish 100 at once, each event", 20_000, publish(&log, 200, 100).await);
}

async fn pruning() {
    for step in [1_000, 10_000] {
        let (_folder, log) = subscribed().await;
        fill(&log).await;
        sqlx::query("update outbox_lines set cursor = ?1").bind(ROWS).execute(log.pool()).await.unwrap();
        let retention = Retention { events: Duration::ZERO, step, ..Retention::default() };
        let watch = Watch::start();
        let (mut pruned, mut longest) = (0, Duration::ZERO);
        while pruned < ROWS / 5 {
            let began = Instant::now();
            pruned += i64::try_from(log.prune(&retention).await.unwrap().events).unwrap();
            longest = longest.max(began.elapsed());
        }
        report(&format!("prune by {step}, at most {longest:?} at once"), pruned, watch.stop());
    }
}

/// How long settlements wait for an application that writes without a pause.
async fn contending() {
    for writers in [1, 4] {
        let (_folder, log) = subscribed().await;
        let publishing = (1..=writers).map(|writer| publish_for_ever(&log, writer));
        let settling = async {
            // Everybody has a connection by then.
            settle(&log, 8, 10).await;
            waits(&log, 500).await
        };
        let mut waits = tokio::select! {
            _ = futures_util::future::join_all(publishing) => unreachable!("it has no end"),
            waits = settling => waits,
        };
        waits.sort_unstable();
        let percentile = |part: usize| waits[(waits.len() - 1) * part / 100];
        eprintln!(
            "append beside {writers} busy writers: p50 {:?}, p90 {:?}, p99 {:?}, at most {:?}",
            percentile(50),
            percentile(90),
            percentile(99),
            percentile(100)
        );
    }
}

async fn publish_for_ever(log: &SqliteLog, writer: u32) {
    for time in 0.. {
        let mut tx = posthaste_sqlite::begin(log.pool()).await.unwrap();
        posthaste_sqlite::publish(&mut tx, "outbox", &[event(time, 0, writer)]).await.unwrap();
        tx.commit().await.unwrap();
    }
}

/// The time of each of so many appends, one every few milliseconds.
async fn waits(log: &SqliteLog, times: usize) -> Vec<Duration> {
    let mut waits = Vec::with_capacity(times);
    for _ in 0..times {
        let (took, _) = settle(log, 8, 1).await;
        waits.push(took);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    waits
}

async fn subscribed() -> (tempfile::TempDir, SqliteLog) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("speed.db").display());
    let log =
        SqliteLog::open(&url, SqliteOptions { migrate: true, ..SqliteOptions::default() }).await.unwrap();
    log.subscribe(&Subscription::new("billing")).await.unwrap();
    (folder, log)
}

/// Time that passed, and time for which this process had a processor: the second is meaningful also on a busy machine.
struct Watch(Instant, Duration);

impl Watch {
    fn start() -> Self {
        Self(Instant::now(), processor_time())
    }

    fn stop(self) -> (Duration, Duration) {
        (self.0.elapsed(), processor_time().saturating_sub(self.1))
    }
}

/// User and system time, which Linux tells in hundredths of a second; elsewhere nothing.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split(' ');
    let ticks = fields.skip(12).take(2).filter_map(|field| field.parse::<u64>().ok()).sum::<u64>();
    Duration::from_millis(10 * ticks)
}

#[expect(clippy::cast_precision_loss, reason = "for people to read")]
fn report(what: &str, count: i64, (took, processor): (Duration, Duration)) {
    let each = |time: Duration| time.as_secs_f64() / count as f64;
    let rate = 1.0 / each(took);
    eprintln!(
        "{what:<42} {:>9.2} µs {rate:>10.0} /s {:>9.2} µs CPU",
        each(took) * 1e6,
        each(processor) * 1e6
    );
}

async fn fill(log: &SqliteLog) {
    let rows = sqlx::query(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < ?1)
         insert into outbox (topic, event_type, key, aggregate_type, aggregate_id, checked, payload)
         select 'user.created', 'user.created', 'user-' || (i % 1000), 'user', 'user-' || (i % 1000), 1,
           '{\"name\":\"' || hex(randomblob(54)) || '\"}'
         from n",
    );
    rows.bind(ROWS).execute(log.pool()).await.unwrap();
}

async fn bare(log: &SqliteLog) -> (Duration, Duration) {
    let mut connection = log.connect_options().disable_statement_logging().connect().await.unwrap();
    let watch = Watch::start();
    let (mut after, mut rows, mut bytes) = (0_i64, 0, 0);
    loop {
        let before = rows;
        let mut stream = sqlx::query(
            "select position, lane, id, key, event_type, event_version, topic, aggregate_type, aggregate_id, tenant_id,
               content_type, headers, correlation_id, idempotency_key, retry, payload, version, deliver_after,
               occurred_at, checked
             from outbox where position > ?1 order by position limit 4096",
        )
        .bind(after)
        .fetch(&mut connection);
        while let Some(row) = stream.try_next().await.unwrap() {
            after = row.get_unchecked(0);
            bytes += row.get_unchecked::<&[u8], _>(2).len();
            for column in 3..16 {
                bytes += row.get_unchecked::<Option<String>, _>(column).map_or(0, |text| text.len());
            }
            for column in 16..20 {
                bytes += usize::from(row.get_unchecked::<Option<i64>, _>(column).is_some());
            }
            rows += 1;
        }
        if rows == before {
            assert!(rows == ROWS && bytes > 0);
            return watch.stop();
        }
    }
}

fn page_after(after: Cursor, lanes: LaneSet) -> Read {
    Read {
        subscription: "billing".to_owned(),
        generation: 1,
        hold_dead: false,
        lanes,
        after,
        until: None,
        parked: lanes,
        limit: Limit { entries: PAGE, bytes: 64 << 20 },
    }
}

async fn read_all(log: &SqliteLog, lanes: LaneSet) -> (Duration, Duration) {
    let watch = Watch::start();
    let mut after = Cursor::default();
    loop {
        let page = log.read(&page_after(after, lanes)).await.unwrap();
        after = page.end;
        if !page.more {
            assert_eq!(after.after, Position(ROWS));
            return watch.stop();
        }
    }
}

async fn idle(log: &SqliteLog, times: usize) -> (Duration, Duration) {
    let read = page_after(Cursor::at(Position(ROWS)), LaneSet::first(64));
    let watch = Watch::start();
    for _ in 0..times {
        assert!(log.read(&read).await.unwrap().entries.is_empty());
    }
    watch.stop()
}

async fn settle(log: &SqliteLog, lanes: u8, times: usize) -> (Duration, Duration) {
    let relay = RelayId("0190163d-8694-739b-aea5-966c26f8ad91".to_owned());
    let lease = Lease {
        relay: relay.clone(),
        host: String::new(),
        version: String::new(),
        subscriptions: vec!["billing".to_owned()],
        time: Duration::from_secs(15),
        first: true,
    };
    let Hold::Alive(mut census) = log.hold(&lease).await.unwrap() else { panic!("just enrolled") };
    let mut last = census.subscriptions.remove(0).lanes;
    last.truncate(usize::from(lanes));
    let watch = Watch::start();
    for _ in 0..times {
        last.iter_mut().for_each(|line| line.n += 1);
        let acts: Vec<Act> = last
            .iter()
            .map(|line| Act {
                lane: line.lane,
                n: line.n,
                kind: ActKind::Settled,
                cursor: Cursor::at(Position(line.n)),
                delivered: 64,
                changes: Vec::new(),
            })
            .collect();
        let answers = log.append("billing", &relay, &acts).await.unwrap();
        assert!(answers.iter().all(|answer| *answer == Appended::Done));
    }
    watch.stop()
}

async fn publish(log: &SqliteLog, times: u32, events: u32) -> (Duration, Duration) {
    let watch = Watch::start();
    for time in 0..times {
        let events: Vec<Event> = (0..events).map(|number| event(time, number, times)).collect();
        let mut tx = posthaste_sqlite::begin(log.pool()).await.unwrap();
        posthaste_sqlite::publish(&mut tx, "outbox", &events).await.unwrap();
        tx.commit().await.unwrap();
    }
    watch.stop()
}

fn event(time: u32, number: u32, run: u32) -> Event {
    let mut id = [0; 16];
    id[4..8].copy_from_slice(&run.to_be_bytes());
    id[8..12].copy_from_slice(&time.to_be_bytes());
    id[12..].copy_from_slice(&number.to_be_bytes());
    let stamp = Stamp { id: EventId::from_bytes(id), now: Timestamp(1_000) };
    let draft = Event::of("user.created").aggregate("user", "user-42").json(&"Ada".repeat(40)).unwrap();
    draft.build(&EventRules::default(), stamp).unwrap()
}
