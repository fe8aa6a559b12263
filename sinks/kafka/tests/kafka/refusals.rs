//! Events that Kafka does not take: each fails for itself, and nothing of its key passes it.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste_core::{DeadReason, Delivery, Entry, Event, FaultKind, Sink};
use posthaste_kafka::{KafkaOptions, KafkaSink, UnknownTopic};
use posthaste_services::kafka;
use tokio::task::JoinSet;

use crate::fixture::{
    PATIENCE, assert_promise, consume, create_topic, delete_topic, deliver, deliver_all, entry, fault, json,
    large, letters, numbers_by_key, options, sink, small, topic, unique,
};

/// Delivers as a relay does: what was not sent goes again, unless an earlier one of its key has failed.
async fn deliver_like_a_relay(sink: &KafkaSink, batch: &[Entry]) -> Vec<Delivery> {
    let mut outcomes = vec![Delivery::NotSent; batch.len()];
    let mut failed: HashSet<String> = HashSet::new();
    for _ in 0..100 {
        let is_pending = |index: &usize| {
            let key = batch[*index].event.key.as_ref();
            outcomes[*index] == Delivery::NotSent && key.is_none_or(|key| !failed.contains(key))
        };
        let pending: Vec<usize> = (0..batch.len()).filter(is_pending).collect();
        if pending.is_empty() {
            return outcomes;
        }
        let entries: Vec<Entry> = pending.iter().map(|index| batch[*index].clone()).collect();
        let answers = deliver(sink, &entries).await;
        assert_promise(&entries, &answers);
        for ((index, entry), answer) in pending.into_iter().zip(&entries).zip(answers) {
            if matches!(answer, Delivery::Failed(_)) {
                failed.extend(entry.event.key.clone());
            }
            outcomes[index] = answer;
        }
    }
    panic!("it does not come to an end: {}", letters(&outcomes));
}

// pitfalls L23, S32: a topic that is not there holds up nobody else, and nothing is lost.
#[tokio::test]
async fn an_event_for_a_topic_that_does_not_exist_waits_for_it() {
    let (known, missing) = (topic(&kafka(), 1, &[]).await, unique("missing"));
    let sink = sink(&options());
    let batch = [small(1, "k", &missing), small(2, "k", &known), small(3, "l", &known)];

    let answers = deliver(&sink, &batch).await;

    assert_eq!(letters(&answers), "u-d");
    assert!(fault(&answers[0]).message.contains(&missing), "{:?}", answers[0]);
    assert_eq!(sink.ping().await, Ok(()), "others may go on");
    create_topic(&kafka(), &missing, 1, &[]).await;
    assert_eq!(letters(&deliver_like_a_relay(&sink, &batch[..2]).await), "dd");
    assert_eq!(consume(&kafka(), &missing).len(), 1);
}

#[tokio::test]
async fn a_sink_with_one_topic_is_down_until_it_exists() {
    let missing = unique("missing");
    let sink = sink(&KafkaOptions { topic: missing.parse().unwrap(), ..options() });

    assert_eq!(letters(&deliver(&sink, &[small(1, "k", "any")]).await), "u");

    let down = sink.ping().await.unwrap_err();
    assert!(down.kind == FaultKind::Unavailable && down.message.contains(&missing), "{down}");
    create_topic(&kafka(), &missing, 1, &[]).await;
    let deadline = Instant::now() + PATIENCE;
    while sink.ping().await.is_err() {
        assert!(Instant::now() < deadline, "it does not come up");
    }
}

// pitfall S32: a topic that is deleted while it is used, and made again later.
#[tokio::test]
async fn a_topic_that_is_deleted_is_waited_for_like_one_that_never_was() {
    let (kept, deleted) = (topic(&kafka(), 1, &[]).await, topic(&kafka(), 3, &[]).await);
    let sink = sink(&KafkaOptions { timeout: Duration::from_secs(5), ..options() });
    deliver_all(&sink, &[small(1, "k", &deleted), small(2, "l", &kept)]).await;
    delete_topic(&kafka(), &deleted).await;

    let deadline = Instant::now() + PATIENCE;
    let answers = loop {
        // A broker may need a moment to forget it.
        let answers = deliver(&sink, &[small(3, "k", &deleted), small(4, "k", &deleted)]).await;
        assert!(Instant::now() < deadline, "it is still there");
        if letters(&answers) != "dd" {
            break answers;
        }
    };

    assert_eq!(letters(&answers), "u-");
    assert_eq!(letters(&deliver_like_a_relay(&sink, &[small(5, "l", &kept)]).await), "d");
    // With fewer partitions than before.
    create_topic(&kafka(), &deleted, 1, &[]).await;
    while letters(&deliver(&sink, &[small(6, "k", &deleted), small(7, "k", &deleted)]).await) != "dd" {
        assert!(Instant::now() < deadline, "it does not come back");
    }
    assert_eq!(numbers_by_key(&kafka(), &deleted)["k"], [6, 7]);
}

#[tokio::test]
async fn an_event_for_a_topic_that_does_not_exist_is_dead_if_that_was_asked_for() {
    let options = KafkaOptions { unknown_topic: UnknownTopic::Dead, ..options() };
    let missing = unique("missing");

    let answers = deliver(&sink(&options), &[small(1, "k", &missing), small(2, "k", &missing)]).await;

    assert_eq!(letters(&answers), "f-");
    let fault = fault(&answers[0]);
    assert_eq!((fault.kind, fault.reason), (FaultKind::Permanent, DeadReason::PermanentFailure));
    assert!(fault.message.contains("does not exist"), "{fault}");
}

#[tokio::test]
async fn a_name_that_no_topic_can_have_fails_for_good() {
    let known = topic(&kafka(), 1, &[]).await;
    let sink = sink(&KafkaOptions { topic: "{tenant_id}".parse().unwrap(), ..options() });
    let of_tenant = |position, tenant: &str| {
        entry(position, Event::of("a").tenant(tenant).key(position.to_string()).payload(json("1")))
    };
    let nobody = entry(9, Event::of("a").payload(json("1")));
    let batch = [
        of_tenant(1, "größe"),
        of_tenant(2, ".."),
        of_tenant(3, &"x".repeat(250)),
        nobody,
        of_tenant(4, &known),
    ];

    let answers = deliver(&sink, &batch).await;

    assert_eq!(letters(&answers), "ffffd");
    assert!(fault(&answers[0]).message.contains("größe"), "{:?}", answers[0]);
    assert!(fault(&answers[3]).message.contains("{tenant_id}"), "{:?}", answers[3]);
}

// pitfall O11: what is behind an event that is too large does not pass it.
#[tokio::test]
async fn an_event_over_the_limit_of_the_client_stops_its_key_only() {
    let topic = topic(&kafka(), 4, &[]).await;
    let sink = sink(&KafkaOptions { message_max_bytes: 10_000, ..options() });
    let batch =
        [small(1, "k", &topic), large(2, "k", &topic, 20_000), small(3, "k", &topic), small(4, "l", &topic)];

    let answers = deliver(&sink, &batch).await;

    assert_eq!(letters(&answers), "df-d");
    assert_eq!(fault(&answers[1]).kind, FaultKind::Permanent);
    assert!(fault(&answers[1]).message.contains("message_max_bytes"), "{:?}", answers[1]);
    let found = numbers_by_key(&kafka(), &topic);
    assert_eq!((&found["k"], &found["l"]), (&vec![1], &vec![4]));
}

// pitfall O11: the same if only the broker knows the limit. Everything shares a request with the culprit.
#[tokio::test]
async fn an_event_over_the_limit_of_its_topic_stops_its_key_only() {
    let topic = topic(&kafka(), 1, &[("max.message.bytes", "5000")]).await;
    let sink = sink(&options());
    let mut batch: Vec<Entry> = (0..20).map(|n| small(n, &(n % 4).to_string(), &topic)).collect();
    batch[9] = large(9, "1", &topic, 6_000);

    let answers = deliver_like_a_relay(&sink, &batch).await;

    assert_eq!(letters(&answers), "dddddddddfddd-ddd-dd");
    let fault = fault(&answers[9]);
    assert_eq!(fault.kind, FaultKind::Permanent);
    assert!(fault.message.contains("max.message.bytes"), "{fault}");
    let found = numbers_by_key(&kafka(), &topic);
    assert_eq!(found["1"], [1, 5]);
    assert_eq!(found["0"], [0, 4, 8, 12, 16]);
}

/// With one record a request five are on the wire when the first is refused. Whether the broker takes those behind it
/// depends on whether it knows the producer in that partition.
async fn nothing_passes_a_refused_record(warm: bool) {
    let topic = topic(&kafka(), 1, &[("max.message.bytes", "2000")]).await;
    let mut options = options();
    options.extra.insert("batch.num.messages".to_owned(), "1".into());
    let sink = sink(&options);
    if warm {
        deliver_all(&sink, &[small(0, "k", &topic)]).await;
    }
    let mut batch = vec![large(1, "k", &topic, 5_000)];
    batch.extend((2..10).map(|n| small(n, "k", &topic)));

    let answers = deliver(&sink, &batch).await;

    assert_eq!(letters(&answers), "f--------");
    assert_eq!(consume(&kafka(), &topic).len(), usize::from(warm));
}

#[tokio::test]
async fn nothing_passes_a_refused_record_where_the_producer_is_known() {
    nothing_passes_a_refused_record(true).await;
}

#[tokio::test]
async fn nothing_passes_a_refused_record_where_the_producer_is_new() {
    nothing_passes_a_refused_record(false).await;
}

// A whole batch is refused as too large although every event in it is small: nobody is to blame.
#[tokio::test]
async fn small_events_survive_a_topic_that_takes_only_small_batches() {
    let topic = topic(&kafka(), 1, &[("max.message.bytes", "20000")]).await;
    let sink = sink(&options());
    let batch: Vec<Entry> = (0..600).map(|n| small(n, &(n % 5).to_string(), &topic)).collect();
    for _ in 0..2 {
        let answers = deliver_like_a_relay(&sink, &batch).await;
        assert_eq!(letters(&answers), "d".repeat(600));
    }

    for (key, numbers) in numbers_by_key(&kafka(), &topic) {
        let once: Vec<i64> = (key.parse().unwrap()..600).step_by(5).collect();
        assert_eq!(numbers, [once.clone(), once].concat(), "{key}");
    }
}

#[tokio::test]
async fn an_event_without_a_key_is_refused_by_a_compacted_topic_and_the_others_are_not() {
    let topic = topic(&kafka(), 1, &[("cleanup.policy", "compact")]).await;
    let sink = sink(&options());
    let keyless = entry(2, Event::of("a").topic(&topic).payload(json("2")));
    let batch = [small(1, "k", &topic), keyless, small(3, "k", &topic)];

    let answers = deliver_like_a_relay(&sink, &batch).await;

    assert_eq!(letters(&answers), "dfd");
    assert!(fault(&answers[1]).message.contains("needs a key"), "{:?}", answers[1]);
    assert_eq!(numbers_by_key(&kafka(), &topic)["k"], [1, 3]);
}

// pitfall S4, S29: the client that all lanes share is replaced, and nobody but the culprit notices.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_event_costs_other_lanes_nothing() {
    let topic = topic(&kafka(), 4, &[("max.message.bytes", "5000")]).await;
    let sink = Arc::new(sink(&options()));
    let mut lanes = JoinSet::new();
    for lane in 0..6_i64 {
        let (sink, topic) = (Arc::clone(&sink), topic.clone());
        lanes.spawn(async move {
            let key = lane.to_string();
            let mut batch: Vec<Entry> = (0..60).map(|n| small(n, &key, &topic)).collect();
            if lane % 3 == 0 {
                batch[30] = large(30, "poison", &topic, 8_000);
            }
            deliver_like_a_relay(&sink, &batch).await
        });
    }
    while let Some(answers) = lanes.join_next().await {
        let letters = letters(&answers.unwrap());
        assert!(
            letters == "d".repeat(60) || letters == format!("{}f{}", "d".repeat(30), "d".repeat(29)),
            "{letters}"
        );
    }

    for (key, numbers) in numbers_by_key(&kafka(), &topic) {
        let all = (0..60).filter(|n| *n != 30 || key.parse::<i64>().unwrap() % 3 != 0);
        assert_eq!(numbers, all.collect::<Vec<i64>>(), "lane {key}");
    }
}
