//! Bugs that others had with Kafka, tried on clusters that do what is asked of them. The numbers are those of `docs/pitfalls.md`.

use std::time::{Duration, Instant};

use posthaste_core::Entry;
use posthaste_kafka::KafkaOptions;
use rdkafka::{mocking::MockCluster, producer::DefaultProducerContext};

use crate::fixture::{PATIENCE, deliver, deliver_all, numbers_by_key, sink, small};

type Cluster = MockCluster<'static, DefaultProducerContext>;

/// A cluster with one broker and a topic.
fn cluster(partitions: i32) -> (Cluster, KafkaOptions) {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("t", partitions, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    (cluster, KafkaOptions { timeout: PATIENCE, ..KafkaOptions::new(brokers) })
}

// pitfalls B15, B26: each record, or each of a key, waits for the answer to the one before it; or all wait for company.
#[tokio::test]
async fn a_batch_takes_a_few_round_trips_however_many_records_it_has() {
    const RECORDS: i64 = 2_000;
    const KEYS: i64 = 20;
    let round_trip = Duration::from_millis(100);
    let (cluster, options) = cluster(4);
    let sink = sink(&options);
    cluster.broker_round_trip_time(-1, round_trip).unwrap();
    let batch: Vec<Entry> = (0..RECORDS).map(|n| small(n, &(n % KEYS).to_string(), "t")).collect();

    let began = Instant::now();
    deliver_all(&sink, &batch).await;

    let took = began.elapsed();
    // To begin with, nothing is known of the cluster, and of each key one record goes ahead.
    assert!(
        took < 50 * round_trip,
        "{took:?} is more than 50 round trips; one record of each key at a time are 100"
    );
    cluster.broker_round_trip_time(-1, Duration::ZERO).unwrap();
    let found = numbers_by_key(&cluster.bootstrap_servers(), "t");
    assert_eq!(found.values().map(Vec::len).sum::<usize>(), RECORDS as usize);
}

// pitfalls L25, D19: a batch that nobody waits for any more lies in the queue of a client, until the broker is back.
#[tokio::test]
async fn a_client_that_was_given_up_sends_nothing_when_the_broker_is_back() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    deliver_all(&sink, &[small(0, "k", "t")]).await;
    cluster.broker_down(-1).unwrap();
    let late: Vec<Entry> = (1..50).map(|n| small(n, "k", "t")).collect();

    let given_up = tokio::time::timeout(Duration::from_millis(300), deliver(&sink, &late)).await;
    assert!(given_up.is_err());
    cluster.broker_up(-1).unwrap();

    // A client connects again after a second at most.
    let deadline = Instant::now() + Duration::from_secs(3);
    while Instant::now() < deadline {
        assert_eq!(numbers_by_key(&cluster.bootstrap_servers(), "t")["k"], [0]);
        // Waits for a condition: that nothing more comes.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
