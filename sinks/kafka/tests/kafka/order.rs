//! Order: of each key, over partitions, topics, lanes and many batches.

use std::sync::Arc;

use posthaste_core::{Entry, Event};
use posthaste_services::kafka;
use tokio::task::JoinSet;

use crate::fixture::{consume, deliver_all, entry, numbers_by_key, options, sink, small, topic};

// pitfalls O1, O3, D21: per-key order under full concurrency, and nothing twice.
#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_records_of_many_lanes_arrive_once_and_in_order() {
    const LANES: i64 = 10;
    const BATCHES: i64 = 4;
    const SIZE: i64 = 250;
    let topic = topic(&kafka(), 8, &[]).await;
    let sink = Arc::new(sink(&options()));

    let mut lanes = JoinSet::new();
    for lane in 0..LANES {
        let (sink, topic) = (Arc::clone(&sink), topic.clone());
        lanes.spawn(async move {
            for batch in 0..BATCHES {
                let numbers = batch * SIZE..(batch + 1) * SIZE;
                let batch: Vec<Entry> =
                    numbers.map(|n| small(n, &format!("{lane}-{}", n % 7), &topic)).collect();
                deliver_all(&sink, &batch).await;
            }
        });
    }
    lanes.join_all().await;

    let found = numbers_by_key(&kafka(), &topic);
    assert_eq!(found.len(), 70);
    for (key, numbers) in found {
        let first = key.rsplit_once('-').unwrap().1.parse::<i64>().unwrap();
        let expected: Vec<i64> = (first..BATCHES * SIZE).step_by(7).collect();
        assert_eq!(numbers, expected, "{key}");
    }
}

// pitfalls O8, O13: a key has one partition, and the one that Kafka's own clients choose.
#[tokio::test]
async fn a_key_has_one_partition_whoever_writes_it() {
    let topic = topic(&kafka(), 8, &[]).await;
    let sink = sink(&options());
    for n in 0..3 {
        deliver_all(&sink, &[small(n, "21", &topic), small(n, "foobar", &topic), small(n, "abc", &topic)])
            .await;
    }

    for record in consume(&kafka(), &topic) {
        // What `partition.rs` has from Kafka's clients, without the sign.
        let hash: i32 = match record.key.as_deref().unwrap() {
            "21" => -973_932_308,
            "foobar" => -790_332_482,
            _ => 479_470_107,
        };
        let expected = (hash & 0x7fff_ffff) % 8;
        assert_eq!(record.partition, expected, "{:?}", record.key);
    }
}

#[tokio::test]
async fn records_without_a_key_use_every_partition() {
    let topic = topic(&kafka(), 4, &[]).await;
    let sink = sink(&options());
    for n in 0..8 {
        deliver_all(&sink, &[entry(n, Event::of("a").topic(&topic).json(&n).unwrap())]).await;
    }

    let mut used: Vec<i32> = consume(&kafka(), &topic).iter().map(|record| record.partition).collect();
    used.sort_unstable();
    assert_eq!(used, [0, 0, 1, 1, 2, 2, 3, 3]);
}

#[tokio::test]
async fn a_key_that_goes_to_several_topics_goes_to_all_of_them_in_its_order() {
    let (first, second) = (topic(&kafka(), 2, &[]).await, topic(&kafka(), 2, &[]).await);
    let sink = sink(&options());
    let batch: Vec<Entry> =
        (0..30).map(|n| small(n, &(n % 3).to_string(), if n % 4 < 2 { &first } else { &second })).collect();

    deliver_all(&sink, &batch).await;

    for (topic, half) in [(&first, 0..2), (&second, 2..4)] {
        for (key, numbers) in numbers_by_key(&kafka(), topic) {
            let key: i64 = key.parse().unwrap();
            let expected: Vec<i64> = (0..30).filter(|n| n % 3 == key && half.contains(&(n % 4))).collect();
            assert_eq!(numbers, expected);
        }
    }
}
