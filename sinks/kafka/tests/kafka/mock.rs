//! Faults that a real broker makes only by chance, on command: librdkafka's own made-up cluster.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use posthaste_core::{Entry, FaultKind, Sink};
use posthaste_kafka::KafkaOptions;
use rdkafka::{
    mocking::MockCluster,
    producer::DefaultProducerContext,
    types::{RDKafkaApiKey, RDKafkaRespErr},
};
use tokio::task::yield_now;

use crate::fixture::{
    PATIENCE, assert_outage, assert_promise, deliver, deliver_all, fault, large, letters, numbers_by_key,
    sink, small,
};

type Cluster = MockCluster<'static, DefaultProducerContext>;

fn cluster(partitions: i32) -> (Cluster, KafkaOptions) {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("t", partitions, 1).unwrap();
    let brokers = cluster.bootstrap_servers();
    // Long enough that a small batch is one request: this cluster does not number what a producer writes, as a real one
    // does, and would take a request behind one that it refused.
    let linger = Duration::from_millis(100);
    (cluster, KafkaOptions { timeout: Duration::from_secs(4), linger, ..KafkaOptions::new(brokers) })
}

fn batch(count: i64) -> Vec<Entry> {
    (0..count).map(|n| small(n, &(n % 3).to_string(), "t")).collect()
}

fn refuse(cluster: &Cluster, error: RDKafkaRespErr, times: usize) {
    cluster.request_errors(RDKafkaApiKey::Produce, &vec![error; times]);
}

fn assert_once_and_in_order(cluster: &Cluster, count: i64) {
    for (key, numbers) in numbers_by_key(&cluster.bootstrap_servers(), "t") {
        let expected: Vec<i64> = (key.parse().unwrap()..count).step_by(3).collect();
        assert_eq!(numbers, expected, "{key}");
    }
}

// pitfall O10: the client's own retries neither reorder nor double.
#[tokio::test]
async fn what_the_client_tries_again_keeps_its_order() {
    use RDKafkaRespErr as Error;
    for error in [
        Error::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        Error::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        Error::RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        Error::RD_KAFKA_RESP_ERR__TRANSPORT,
    ] {
        let (cluster, mut options) = cluster(1);
        options.timeout = PATIENCE;
        let sink = sink(&options);
        deliver_all(&sink, &batch(3)).await;
        refuse(&cluster, error, 3);

        deliver_all(&sink, &(3..90).map(|n| small(n, &(n % 3).to_string(), "t")).collect::<Vec<_>>()).await;

        assert_once_and_in_order(&cluster, 90);
    }
}

// pitfalls L3, L4, L31: what was not acknowledged is not delivered, and that costs no attempts.
#[tokio::test]
async fn replicas_that_are_missing_are_an_outage() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    deliver_all(&sink, &batch(3)).await;
    refuse(&cluster, RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, 10_000);
    let late: Vec<Entry> = (3..9).map(|n| small(n, &(n % 3).to_string(), "t")).collect();

    for _ in 0..2 {
        assert_outage(&late, &deliver(&sink, &late).await);
    }
    cluster.clear_request_errors(RDKafkaApiKey::Produce);
    deliver_all(&sink, &late).await;

    assert_once_and_in_order(&cluster, 9);
}

#[tokio::test]
async fn a_broker_that_is_down_is_an_outage_and_pings_say_when_it_is_over() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    deliver_all(&sink, &batch(3)).await;
    assert_eq!(sink.ping().await, Ok(()));
    cluster.broker_down(-1).unwrap();

    let answers = deliver(&sink, &batch(3)).await;

    assert_outage(&batch(3), &answers);
    let message = &fault(&answers[0]).message;
    assert!(message.contains(&cluster.bootstrap_servers()), "{message}");
    assert_eq!(sink.ping().await.unwrap_err().kind, FaultKind::Unavailable);
    cluster.broker_up(-1).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while sink.ping().await.is_err() {
        assert!(Instant::now() < deadline, "it does not recover");
    }
    deliver_all(&sink, &batch(3)).await;
}

#[tokio::test]
async fn a_topic_without_leaders_is_an_outage_of_its_events() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    cluster.partition_leader("t", 0, None).unwrap();

    let answers = deliver(&sink, &batch(3)).await;

    assert_outage(&batch(3), &answers);
    let fault = sink.ping().await.unwrap_err();
    assert!(fault.message.contains("no leader"), "{fault}");
}

#[tokio::test]
async fn a_leader_that_moves_is_followed() {
    let cluster = MockCluster::new(3).unwrap();
    cluster.create_topic("t", 2, 3).unwrap();
    let sink = sink(&KafkaOptions { timeout: PATIENCE, ..KafkaOptions::new(cluster.bootstrap_servers()) });
    for (round, leader) in [1, 2, 3, 1].into_iter().enumerate() {
        for partition in 0..2 {
            cluster.partition_leader("t", partition, Some(leader)).unwrap();
        }
        let first = i64::try_from(round).unwrap() * 30;
        let batch: Vec<Entry> = (first..first + 30).map(|n| small(n, &(n % 3).to_string(), "t")).collect();
        deliver_all(&sink, &batch).await;
    }

    assert_once_and_in_order(&cluster, 120);
}

#[tokio::test]
async fn a_topic_that_may_not_be_written_fails_for_good_and_is_not_asked_again() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    deliver_all(&sink, &batch(3)).await;
    refuse(&cluster, RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, 1);

    let first = deliver(&sink, &batch(6)).await;
    // The cluster would take these; that it refused the topic is remembered for a while.
    let second = deliver(&sink, &batch(3)).await;

    assert_promise(&batch(6), &first);
    assert_eq!((letters(&first).as_str(), letters(&second).as_str()), ("fff---", "fff"));
    let fault = fault(&first[0]);
    assert!(fault.kind == FaultKind::Permanent && fault.message.contains("\"t\""), "{fault}");
}

// pitfall S13: a client that has failed for good is replaced, and nobody has to start anything again.
#[tokio::test]
async fn a_client_that_failed_for_good_is_replaced() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    deliver_all(&sink, &batch(3)).await;
    refuse(&cluster, RDKafkaRespErr::RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, 1);
    let next: Vec<Entry> = (3..6).map(|n| small(n, &(n % 3).to_string(), "t")).collect();

    let answers = deliver(&sink, &next).await;

    assert_eq!(letters(&answers), "uuu");
    deliver_all(&sink, &next).await;
    assert_once_and_in_order(&cluster, 6);
}

// Back-pressure: a full queue is waited for, and meanwhile the thread is free for others.
#[tokio::test]
async fn a_full_queue_makes_the_sink_wait_and_not_its_thread() {
    let (cluster, mut options) = cluster(1);
    options.timeout = PATIENCE;
    options.extra.insert("queue.buffering.max.messages".to_owned(), "20".into());
    let sink = sink(&options);
    deliver_all(&sink, &batch(3)).await;
    // Ten times the queue, at a tenth of a second each, is more than a second.
    cluster.broker_round_trip_time(-1, Duration::from_millis(100)).unwrap();
    let longest = Mutex::new(Duration::ZERO);
    let others = async {
        loop {
            let began = Instant::now();
            yield_now().await;
            let mut longest = longest.lock().unwrap();
            *longest = began.elapsed().max(*longest);
        }
    };

    let more: Vec<Entry> = (3..220).map(|n| small(n, &(n % 3).to_string(), "t")).collect();
    let began = Instant::now();
    tokio::select! {
        // The others first, so that they are waiting when the sink begins.
        biased;
        () = others => {}
        () = deliver_all(&sink, &more) => {}
    }

    let (longest, whole) = (longest.into_inner().unwrap(), began.elapsed());
    assert_once_and_in_order(&cluster, 220);
    assert!(longest < whole / 2, "others had no turn for {longest:?} of {whole:?}");
}

// A future that nobody waits for any more leaves nothing in the queue that could be sent some time later.
#[tokio::test]
async fn a_delivery_that_is_given_up_is_not_made_later() {
    let (cluster, options) = cluster(1);
    let sink = sink(&options);
    deliver_all(&sink, &[small(0, "0", "t")]).await;
    cluster.broker_down(-1).unwrap();

    let late: Vec<Entry> = (1..50).map(|n| small(n, "0", "t")).collect();
    let given_up = tokio::time::timeout(Duration::from_millis(300), deliver(&sink, &late)).await;
    assert!(given_up.is_err());
    cluster.broker_up(-1).unwrap();
    deliver_all(&sink, &[small(50, "0", "t")]).await;

    assert_eq!(numbers_by_key(&cluster.bootstrap_servers(), "t")["0"], [0, 50]);
}

#[tokio::test]
async fn a_large_event_travels_if_it_is_within_the_limit() {
    let (cluster, options) = cluster(1);
    let batch = [large(1, "k", "t", 999_000), large(2, "k", "t", 1_000_001)];

    let answers = deliver(&sink(&options), &batch).await;

    assert_eq!(letters(&answers), "df");
    drop(cluster);
}

#[tokio::test]
async fn a_batch_whose_time_is_over_is_not_sent() {
    let (cluster, options) = cluster(1);

    let answers = sink(&options).deliver(&batch(3), Instant::now()).await;

    assert_eq!(letters(&answers), "---");
    assert!(numbers_by_key(&cluster.bootstrap_servers(), "t").is_empty());
}
