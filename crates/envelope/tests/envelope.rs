//! What messages look like, format by format.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use posthaste_core::{
    DeadReason, Entry, Event, EventBuilder, EventId, EventRules, Lane, Origin, Payload, Position, Stamp,
    Timestamp,
};
use posthaste_envelope::{Envelope, Format, TopicTemplate};
use serde_json::{Value, json};

const ID: &str = "01010101-0101-0101-0101-010101010101";

fn entry(draft: EventBuilder) -> Entry {
    let stamp = Stamp { id: EventId::from_bytes([1; 16]), now: Timestamp(1_700_000_000_123_456) };
    Entry {
        position: Position(9),
        lane: Lane(0),
        event: draft.build(&EventRules::default(), stamp).unwrap(),
        origin: Origin::Log,
        attempts: 0,
        blocked: false,
        delayed: false,
        defect: None,
    }
}

fn placed() -> EventBuilder {
    Event::of("order.placed")
        .aggregate("order", 42)
        .version(3)
        .correlation("c-1")
        .header("traceparent", "00-ab-cd-01")
        .header("tracestate", "x=1")
        .header("X-Request-Id", "r-1")
}

fn value(envelope: &Envelope, entry: &Entry) -> Option<Vec<u8>> {
    // What an earlier message left in the buffer must not show.
    let mut buffer = b"left over".to_vec();
    envelope.value(entry, &mut buffer).unwrap().bytes.map(<[u8]>::to_vec)
}

fn headers(envelope: &Envelope, entry: &Entry) -> Vec<(String, String)> {
    let (mut buffer, mut headers) = (Vec::new(), Vec::new());
    let value = envelope.value(entry, &mut buffer).unwrap();
    envelope.headers(entry, &value, |name, text| headers.push((name.to_owned(), text.to_owned())));
    headers
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn the_usual_message_has_its_facts_in_the_value_and_headers_for_what_others_filter_by() {
    let envelope = Envelope::new(Format::default());
    let entry = entry(placed().json(&json!({ "total": 5, "metadata": { "by": "Ada" } })).unwrap());

    let value: Value = serde_json::from_slice(&value(&envelope, &entry).unwrap()).unwrap();
    assert_eq!(
        value,
        json!({
            "total": 5,
            "messageId": ID,
            "metadata": { "by": "Ada", "outbox_id": ID, "sequence_number": 3 },
        })
    );
    assert_eq!(
        headers(&envelope, &entry),
        pairs(&[
            ("event_type", "order.placed"),
            ("aggregate_id", "42"),
            ("correlation_id", "c-1"),
            ("X-Request-Id", "r-1"),
            ("traceparent", "00-ab-cd-01"),
            ("tracestate", "x=1"),
        ])
    );
}

#[test]
fn without_a_version_the_number_is_the_position_and_what_is_missing_is_left_out() {
    let envelope = Envelope::new(Format::Posthaste);
    let entry = entry(Event::of("a").json(&json!({})).unwrap());

    let value: Value = serde_json::from_slice(&value(&envelope, &entry).unwrap()).unwrap();
    assert_eq!(value["metadata"]["sequence_number"], 9);
    assert_eq!(headers(&envelope, &entry), pairs(&[("event_type", "a")]));
}

#[test]
fn headers_say_what_the_value_has_no_place_for() {
    let envelope = Envelope::new(Format::Posthaste).tombstones(true);
    let told = |payload: &str| {
        let entry = entry(Event::of("a").key("k").payload(Payload::Json(payload.to_owned())));
        headers(&envelope, &entry).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };

    assert_eq!(told("{\"metadata\":{\"by\":1}}"), ["event_type"]);
    assert_eq!(told("{\"metadata\":\"text\"}"), ["event_type", "sequence_number"]);
    for no_object in ["[1]", "null", "{\"metadata\": }"] {
        assert_eq!(told(no_object), ["event_type", "messageId", "sequence_number"], "{no_object}");
    }
}

#[test]
fn what_is_no_object_is_sent_as_it_is_with_the_facts_in_the_headers() {
    let envelope = Envelope::new(Format::Posthaste);
    let list = entry(Event::of("a").payload(Payload::Json("[1, 2.50]".to_owned())));
    let bytes = entry(Event::of("a").bytes(vec![0, 255], "image/png"));

    assert_eq!(value(&envelope, &list).unwrap(), b"[1, 2.50]");
    assert_eq!(value(&envelope, &bytes).unwrap(), [0, 255]);
    let facts = [("event_type", "a"), ("messageId", ID), ("sequence_number", "9")];
    assert_eq!(headers(&envelope, &list), pairs(&facts));
    assert_eq!(headers(&envelope, &bytes), pairs(&[&facts[..], &[("content-type", "image/png")]].concat()));
}

#[test]
fn a_header_of_the_event_does_not_stand_for_the_envelopes() {
    let draft = || Event::of("a").header("messageId", "forged").header("ce_id", "forged").header("mine", "1");
    let posthaste = headers(&Envelope::new(Format::Posthaste), &entry(draft().json(&1).unwrap()));
    let binary = headers(&Envelope::new(Format::CloudEventsBinary), &entry(draft().json(&1).unwrap()));

    let object = headers(&Envelope::new(Format::Posthaste), &entry(draft().json(&json!({})).unwrap()));
    assert_eq!(
        object,
        pairs(&[("event_type", "a"), ("ce_id", "forged"), ("mine", "1")]),
        "nor beside the value's"
    );
    for (headers, name) in [(posthaste, "messageId"), (binary, "ce_id")] {
        let ids: Vec<_> = headers.iter().filter(|(found, _)| found == name).collect();
        assert_eq!(ids, [&(name.to_owned(), ID.to_owned())]);
        assert!(headers.contains(&("mine".to_owned(), "1".to_owned())));
    }
}

#[test]
fn a_structured_cloud_event_has_everything_in_its_value() {
    let envelope = Envelope::new(Format::CloudEventsStructured).source("https://shop.example");
    let entry = entry(placed().bytes(vec![0, 255, 16], "image/png"));

    let value: Value = serde_json::from_slice(&value(&envelope, &entry).unwrap()).unwrap();
    assert_eq!(
        (&value["id"], &value["source"], &value["type"], &value["data_base64"], &value["aggregateversion"]),
        (&json!(ID), &json!("https://shop.example"), &json!("order.placed"), &json!("AP8Q"), &json!("3"))
    );
    assert_eq!(
        headers(&envelope, &entry),
        pairs(&[("content-type", "application/cloudevents+json; charset=UTF-8")])
    );
}

#[test]
fn a_payload_that_is_not_json_cannot_be_structured() {
    let broken = entry(Event::of("a").payload(Payload::Json("{\"secret\": ".to_owned())));

    let fault = Envelope::new(Format::CloudEventsStructured).value(&broken, &mut Vec::new()).unwrap_err();

    assert_eq!(fault.reason, DeadReason::PoisonMessage);
    assert!(fault.message.contains("not JSON") && !fault.message.contains("secret"), "{fault}");
}

#[test]
fn a_binary_cloud_event_has_its_attributes_in_the_headers() {
    let envelope = Envelope::new(Format::CloudEventsBinary);
    let entry = entry(placed().payload(Payload::Json("{ \"total\": 5 }".to_owned())));

    assert_eq!(value(&envelope, &entry).unwrap(), b"{ \"total\": 5 }");
    assert_eq!(
        headers(&envelope, &entry),
        pairs(&[
            ("ce_specversion", "1.0"),
            ("ce_id", ID),
            ("ce_source", "posthaste"),
            ("ce_type", "order.placed"),
            ("ce_time", "2023-11-14T22:13:20.123456Z"),
            ("ce_sequence", "0000000000000000009"),
            ("ce_aggregateversion", "3"),
            ("ce_subject", "42"),
            ("content-type", "application/json"),
            ("ce_topic", "order.placed"),
            ("ce_partitionkey", "42"),
            ("ce_eventversion", "1.0.0"),
            ("ce_aggregatetype", "order"),
            ("ce_correlationid", "c-1"),
            ("ce_traceparent", "00-ab-cd-01"),
            ("ce_tracestate", "x=1"),
            ("X-Request-Id", "r-1"),
            ("traceparent", "00-ab-cd-01"),
            ("tracestate", "x=1"),
        ])
    );
    let other = headers(&envelope.attribute_prefix("ce-"), &entry);
    assert_eq!(other[1].0, "ce-id");
}

// pitfall X1: what stands in a row is never expanded.
#[test]
fn what_an_event_says_is_sent_as_it_is_written() {
    let draft = Event::of("a").topic("{tenant_id}").tenant("${HOME}").header("h", "{{HOME}}{topic}");
    let entry = entry(draft.payload(Payload::Json("{\"a\":\"{topic} ${HOME}\"}".to_owned())));

    let template: TopicTemplate = "{topic}-{tenant_id}".parse().unwrap();
    assert_eq!(template.topic(&entry.event).unwrap(), "{tenant_id}-${HOME}");
    let envelope = Envelope::new(Format::Raw);
    assert_eq!(headers(&envelope, &entry), pairs(&[("h", "{{HOME}}{topic}")]));
    assert_eq!(value(&envelope, &entry).unwrap(), b"{\"a\":\"{topic} ${HOME}\"}");
}

#[test]
fn raw_is_the_payload_and_the_headers_of_the_event() {
    let envelope = Envelope::new(Format::Raw);
    let entry = entry(Event::of("a").header("h", "1").payload(Payload::Json(" {} ".to_owned())));

    assert_eq!(value(&envelope, &entry).unwrap(), b" {} ");
    assert_eq!(headers(&envelope, &entry), pairs(&[("h", "1")]));
}

#[test]
fn null_is_a_null_value_only_where_it_was_asked_for_and_deletes_a_key() {
    let null = |draft: EventBuilder| entry(draft.payload(Payload::Json(" null\n".to_owned())));
    for format in Format::ALL {
        let envelope = Envelope::new(format);
        assert!(value(&envelope, &null(Event::of("a").key("k"))).is_some());

        let envelope = envelope.tombstones(true);
        assert_eq!(value(&envelope, &null(Event::of("a").key("k"))), None);
        assert!(value(&envelope, &null(Event::of("a"))).is_some());
        assert!(value(&envelope, &entry(Event::of("a").key("k").bytes("", "text/plain"))).is_some());
    }
}
