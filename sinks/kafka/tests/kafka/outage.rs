//! Brokers that are killed and paused in the middle of it.

use std::{
    collections::BTreeMap,
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste_core::{Delivery, Entry, FaultKind, Sink};
use posthaste_kafka::{KafkaOptions, KafkaSink};
use posthaste_services::{
    kafka::{Installation, Kafka},
    process::{Process, Signal},
};
use tempfile::TempDir;
use tokio::{
    sync::{Mutex, MutexGuard, mpsc},
    task::JoinSet,
};

use crate::fixture::{
    PATIENCE, assert_promise, consume, deliver, deliver_all, letters, numbers_by_key, sink, small, topic,
};

/// A broker of one's own. Only one runs at a time: each takes half a gigabyte.
struct Broker {
    kafka: Kafka,
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Broker {
    async fn start() -> Self {
        static TURN: Mutex<()> = Mutex::const_new(());
        let turn = TURN.lock().await;
        let folder = tempfile::tempdir().unwrap();
        let kafka = Kafka::start(&Installation::given().unwrap(), folder.path()).unwrap();
        Self { kafka, folder, _turn: turn }
    }

    fn options(&self) -> KafkaOptions {
        KafkaOptions { timeout: Duration::from_secs(4), ..KafkaOptions::new(self.kafka.bootstrap()) }
    }

    /// Stops the process where it stands. Its sockets still take what fits into their buffers.
    fn pause(&self) -> Paused {
        let folder = self.folder.path().canonicalize().unwrap();
        let is_ours = |process: &Process| {
            fs::read_link(format!("/proc/{}/cwd", process.pid)).is_ok_and(|cwd| cwd == folder)
        };
        let process = Process::own().unwrap().descendants().into_iter().find(is_ours).unwrap();
        process.signal(Signal::STOP);
        Paused(process)
    }
}

/// A broker that goes on at the latest when its test ends, or it could not be stopped.
struct Paused(Process);

impl Drop for Paused {
    fn drop(&mut self) {
        self.0.signal(Signal::CONT);
    }
}

/// Delivers until everything is delivered, as a relay does in an outage. Nothing else than an outage may be said.
async fn deliver_through_outages(sink: &KafkaSink, mut batch: Vec<Entry>, delivered: &mpsc::Sender<i64>) {
    let deadline = Instant::now() + PATIENCE;
    while !batch.is_empty() {
        assert!(Instant::now() < deadline, "it does not recover");
        let answers = deliver(sink, &batch).await;
        assert_promise(&batch, &answers);
        let mut left = Vec::new();
        for (entry, answer) in batch.into_iter().zip(answers) {
            match answer {
                Delivery::Delivered => delivered.send(entry.position.0).await.unwrap(),
                Delivery::Failed(fault) => {
                    assert_eq!(fault.kind, FaultKind::Unavailable, "{fault}");
                    left.push(entry);
                }
                Delivery::NotSent => left.push(entry),
            }
        }
        batch = left;
        while !batch.is_empty() && sink.ping().await.is_err() {
            assert!(Instant::now() < deadline, "it does not answer again");
        }
    }
}

const LANES: i64 = 4;
const BATCH: i64 = 200;
const COUNT: i64 = 4_000;

/// Starts the lanes, each with its keys and its numbers from 0, and tells what they say was delivered.
fn start_lanes(sink: KafkaSink, topic: &str) -> (JoinSet<()>, mpsc::Receiver<i64>) {
    let sink = Arc::new(sink);
    let (delivered, heard) = mpsc::channel(1_000_000);
    let mut lanes = JoinSet::new();
    for lane in 0..LANES {
        let (sink, topic, delivered) = (Arc::clone(&sink), topic.to_owned(), delivered.clone());
        lanes.spawn(async move {
            for first in (0..COUNT).step_by(BATCH as usize) {
                let numbers = first..first + BATCH;
                let batch = numbers.map(|n| small(n, &format!("{lane}-{}", n % 3), &topic)).collect();
                deliver_through_outages(&sink, batch, &delivered).await;
            }
        });
    }
    (lanes, heard)
}

// pitfalls L4, L31, D27, O17, S35: killed and started again in the middle of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_killed_and_comes_back_loses_nothing_and_turns_nothing_round() {
    let mut broker = Broker::start().await;
    let brokers = broker.kafka.bootstrap();
    let topic = topic(&brokers, 4, &[]).await;
    let (lanes, mut heard) = start_lanes(sink(&broker.options()), &topic);

    for _ in 0..1_000 {
        heard.recv().await.unwrap();
    }
    broker.kafka.kill().unwrap();
    broker.kafka.start_again().unwrap();
    lanes.join_all().await;

    assert_eq!(
        heard.len() as i64 + 1_000,
        LANES * COUNT,
        "each was delivered once, as far as the sink knows"
    );
    let mut records = 0;
    for (key, numbers) in numbers_by_key(&brokers, &topic) {
        let first: i64 = key.rsplit_once('-').unwrap().1.parse().unwrap();
        assert_eq!(first_time(&numbers), (first..COUNT).step_by(3).collect::<Vec<i64>>(), "{key}");
        records += numbers.len() as i64;
    }
    let repeats = records - LANES * COUNT;
    assert!(repeats <= LANES * BATCH, "{repeats} repeats: at most what was under way may come again");
}

/// The numbers without their repeats.
fn first_time(numbers: &[i64]) -> Vec<i64> {
    let mut seen = BTreeMap::new();
    numbers.iter().copied().filter(|number| seen.insert(*number, ()).is_none()).collect()
}

/// Few records are on the wire at a time, so that it shows what else leaves the client.
fn few_on_the_wire(broker: &Broker) -> KafkaOptions {
    let mut options = broker.options();
    options.extra.insert("batch.num.messages".to_owned(), "10".into());
    options
}

/// Fails if more than this comes into the topic in the time in which a client would have sent it.
async fn assert_no_more_than(broker: &Broker, topic: &str, most: usize) -> Vec<i64> {
    let deadline = Instant::now() + Duration::from_secs(3);
    loop {
        let found: Vec<i64> =
            consume(&broker.kafka.bootstrap(), topic).iter().map(|record| record.number()).collect();
        assert!(found.len() <= most, "{} records were sent, some of them too late", found.len());
        if Instant::now() > deadline {
            return found;
        }
        // Waits for a condition: that nothing more comes.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

// pitfall D19: after its time a batch is not sent, however long the broker slept.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_leaves_the_client_after_the_time_of_a_batch() {
    let broker = Broker::start().await;
    let topic = topic(&broker.kafka.bootstrap(), 1, &[]).await;
    let sink = sink(&few_on_the_wire(&broker));
    deliver_all(&sink, &[small(0, "k", &topic)]).await;
    let batch: Vec<Entry> = (1..=5_000).map(|n| small(n, "k", &topic)).collect();

    let paused = broker.pause();
    let until = Instant::now() + Duration::from_secs(2);
    let answers = sink.deliver(&batch, until).await;
    assert!(Instant::now() < until + Duration::from_secs(5), "it is known when the time is over");
    drop(paused);

    assert_eq!(letters(&answers).trim_matches('-'), "", "two seconds do not tell whether it is down");
    // Five requests of ten records were on the wire, and nobody can call them back.
    let found = assert_no_more_than(&broker, &topic, 51).await;
    assert_eq!(found, (0..found.len() as i64).collect::<Vec<_>>(), "what came is in order");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_that_is_shorter_than_the_time_of_a_batch_costs_nothing() {
    let broker = Broker::start().await;
    let topic = topic(&broker.kafka.bootstrap(), 1, &[]).await;
    let sink = sink(&KafkaOptions { timeout: PATIENCE, ..few_on_the_wire(&broker) });
    deliver_all(&sink, &[small(0, "k", &topic)]).await;
    let batch: Vec<Entry> = (1..=500).map(|n| small(n, "k", &topic)).collect();

    let paused = broker.pause();
    let resume = async {
        // Waits for a condition: that the batch is under way, and longer than the client waits for a request.
        tokio::time::sleep(Duration::from_secs(6)).await;
        drop(paused);
    };
    let (answers, ()) = tokio::join!(deliver(&sink, &batch), resume);

    assert_eq!(letters(&answers), "d".repeat(500));
    assert_eq!(numbers_by_key(&broker.kafka.bootstrap(), &topic)["k"], (0..=500).collect::<Vec<_>>());
}
