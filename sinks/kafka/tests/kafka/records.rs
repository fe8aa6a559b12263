//! What consumers get: key, value and headers.

use posthaste_core::{Entry, Event};
use posthaste_envelope::Format;
use posthaste_kafka::{Compression, KafkaOptions};
use posthaste_services::kafka;
use serde_json::{Value, json};

use crate::fixture::{Consumed, consume, deliver_all, entry, json, options, sink, small, topic};

/// Delivers to a topic with one partition, and tells what a consumer gets.
async fn round_trip(options: KafkaOptions, entries: impl FnOnce(&str) -> Vec<Entry>) -> Vec<Consumed> {
    let topic = topic(&kafka(), 1, &[]).await;
    deliver_all(&sink(&options), &entries(&topic)).await;
    consume(&kafka(), &topic)
}

fn placed(topic: &str) -> Entry {
    let draft = Event::of("order.placed")
        .topic(topic)
        .aggregate("order", 42)
        .key("customer-7")
        .version(3)
        .correlation("c-1")
        .header("traceparent", "00-ab-cd-01")
        .header("X-Größe", "1")
        .payload(json("{\"total\": 1.50}"));
    entry(5, draft)
}

#[tokio::test]
async fn a_record_has_the_key_the_facts_and_the_headers() {
    let got = round_trip(options(), |topic| vec![placed(topic)]).await.remove(0);

    let id = "00000000-0000-0000-0000-000000000005";
    assert_eq!(got.key.as_deref(), Some("customer-7"));
    let value: Value = serde_json::from_slice(got.value.as_deref().unwrap()).unwrap();
    assert_eq!(
        value,
        json!({ "total": 1.5, "messageId": id, "metadata": { "outbox_id": id, "sequence_number": 3 } })
    );
    for (name, text) in [
        ("event_type", "order.placed"),
        ("aggregate_id", "42"),
        ("correlation_id", "c-1"),
        ("traceparent", "00-ab-cd-01"),
        ("X-Größe", "1"),
    ] {
        assert_eq!(got.header(name), Some(text), "{name}");
    }
    assert_eq!(got.headers.len(), 5, "{:?}", got.headers);
}

#[tokio::test]
async fn every_format_arrives() {
    for format in Format::ALL {
        let options = KafkaOptions { format, ..options() };
        let got = round_trip(options, |topic| vec![placed(topic)]).await.remove(0);

        let value = String::from_utf8(got.value.clone().unwrap()).unwrap();
        let (inside, header) = match format {
            Format::Posthaste => ("\"sequence_number\":3", ("event_type", "order.placed")),
            Format::CloudEventsStructured => (
                "\"data\":{\"total\": 1.50}",
                ("content-type", "application/cloudevents+json; charset=UTF-8"),
            ),
            Format::CloudEventsBinary => ("{\"total\": 1.50}", ("ce_type", "order.placed")),
            Format::Raw => ("{\"total\": 1.50}", ("X-Größe", "1")),
        };
        assert!(value.contains(inside), "{value}");
        assert_eq!(got.header(header.0), Some(header.1), "{got:?}");
    }
}

// pitfall L15: nothing is dropped because it is empty.
#[tokio::test]
async fn empty_is_not_null_and_null_is_said_only_where_it_was_asked_for() {
    let entries = |topic: &str| {
        let draft = || Event::of("a").topic(topic);
        vec![
            entry(1, draft().key("k").bytes("", "text/plain")),
            entry(2, draft().key("l").payload(json("null"))),
            entry(3, draft().payload(json("null"))),
            entry(4, draft().key("").payload(json("4"))),
        ]
    };
    let values = |got: Vec<Consumed>| -> Vec<(Option<String>, Option<String>)> {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        got.into_iter().map(|record| (record.key, record.value.map(text))).collect()
    };
    let some = |text: &str| Some(text.to_owned());

    let plain = values(round_trip(options(), entries).await);
    let options = KafkaOptions { tombstones: true, ..options() };
    let tombstones = values(round_trip(options, entries).await);

    let mut expected =
        [(some("k"), some("")), (some("l"), some("null")), (None, some("null")), (some(""), some("4"))];
    assert_eq!(plain, expected);
    expected[1].1 = None;
    assert_eq!(tombstones, expected);
}

#[tokio::test]
async fn topics_are_made_of_what_the_event_has() {
    let topic = topic(&kafka(), 1, &[]).await;
    let (tenant, rest) = topic.split_once('-').unwrap();
    let options = KafkaOptions { topic: format!("{{tenant_id}}-{rest}").parse().unwrap(), ..options() };

    deliver_all(&sink(&options), &[entry(1, Event::of("a").tenant(tenant).json(&1).unwrap())]).await;

    assert_eq!(consume(&kafka(), &topic).len(), 1);
}

#[tokio::test]
async fn compressed_batches_arrive() {
    for compression in
        [Compression::None, Compression::Lz4, Compression::Snappy, Compression::Zstd, Compression::Gzip]
    {
        let options = KafkaOptions { compression, ..options() };
        let got = round_trip(options, |topic| (0..200).map(|n| small(n, "k", topic)).collect()).await;

        let numbers: Vec<i64> = got.iter().map(Consumed::number).collect();
        assert_eq!(numbers, (0..200).collect::<Vec<_>>(), "{compression:?}");
    }
}
