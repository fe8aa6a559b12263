//! How much memory the sink takes while a broker takes nothing. In a process of its own, so that nobody else counts.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste_core::{
    Delivery, Entry, Event, EventId, EventRules, Lane, Origin, Position, Sink, Stamp, Timestamp,
};
use posthaste_kafka::{KafkaOptions, KafkaSink};
use posthaste_services::{
    kafka::{Installation, Kafka},
    process::{Process, Signal},
};
use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
};
use tokio::task::JoinSet;

fn entry(position: i64) -> Entry {
    let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
    let draft =
        Event::of("a").topic("t").key((position % 50).to_string()).bytes(vec![b'x'; 10_000], "text/plain");
    Entry {
        position: Position(position),
        lane: Lane(0),
        event: draft.build(&EventRules::default(), stamp).unwrap(),
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}

async fn create_topic(brokers: &str) {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap();
    let topic = NewTopic::new("t", 4, TopicReplication::Fixed(1));
    admin.create_topics(&[topic], &AdminOptions::new()).await.unwrap();
}

fn kilobytes_in_use() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

// pitfalls B12, B20: sixteen lanes of 20 MB each would be 320 MB in the client; its queue has 64.
#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_takes_nothing_does_not_fill_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let kafka = Kafka::start(&Installation::given().unwrap(), folder.path()).unwrap();
    create_topic(&kafka.bootstrap()).await;
    let options = KafkaOptions { timeout: Duration::from_secs(4), ..KafkaOptions::new(kafka.bootstrap()) };
    let sink = Arc::new(KafkaSink::new(&options).unwrap());
    let batch: Arc<Vec<Entry>> = Arc::new((0..2_000).map(entry).collect());
    let until = Instant::now() + Duration::from_secs(60);
    assert!(sink.deliver(&batch[..50], until).await.iter().all(|answer| *answer == Delivery::Delivered));

    let broker = Process::own().unwrap().descendants().pop().unwrap();
    broker.signal(Signal::STOP);
    let before = kilobytes_in_use();
    let mut lanes = JoinSet::new();
    for _ in 0..16 {
        let (sink, batch) = (Arc::clone(&sink), Arc::clone(&batch));
        lanes.spawn(async move { sink.deliver(&batch, until).await });
    }
    let mut most = before;
    let mut answers = Vec::new();
    while !lanes.is_empty() {
        if let Ok(Some(lane)) = tokio::time::timeout(Duration::from_millis(50), lanes.join_next()).await {
            answers.extend(lane.unwrap());
        }
        most = most.max(kilobytes_in_use());
    }
    broker.signal(Signal::CONT);

    let grown = most - before;
    assert!(grown > 20_000, "the queue was not even used: {grown} kB");
    assert!(grown < 120_000, "memory grew by {grown} kB");
    assert!(!answers.contains(&Delivery::Delivered), "what nobody has is not delivered");
}
