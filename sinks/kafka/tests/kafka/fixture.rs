//! Topics, entries, and what stands in a topic in the end.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use posthaste_core::{
    Delivery, Entry, Event, EventBuilder, EventId, EventRules, Fault, Lane, Origin, Payload, Position, Sink,
    Stamp, Timestamp,
};
use posthaste_kafka::{KafkaOptions, KafkaSink};
use rdkafka::{
    ClientConfig, Message, TopicPartitionList,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
    message::Headers,
};

/// Long enough for a machine that does other things.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A name that no other test has.
pub(crate) fn unique(name: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Creates a topic with a name of its own and these settings.
pub(crate) async fn topic(brokers: &str, partitions: i32, settings: &[(&str, &str)]) -> String {
    let name = unique("test");
    create_topic(brokers, &name, partitions, settings).await;
    name
}

pub(crate) async fn create_topic(brokers: &str, name: &str, partitions: i32, settings: &[(&str, &str)]) {
    let mut topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
    for (name, value) in settings {
        topic = topic.set(name, value);
    }
    let made = admin(brokers).create_topics(&[topic], &patiently()).await.unwrap();
    assert!(made.iter().all(Result::is_ok), "{made:?}");
}

pub(crate) async fn delete_topic(brokers: &str, name: &str) {
    let gone = admin(brokers).delete_topics(&[name], &patiently()).await.unwrap();
    assert!(gone.iter().all(Result::is_ok), "{gone:?}");
}

fn admin(brokers: &str) -> AdminClient<DefaultClientContext> {
    ClientConfig::new().set("bootstrap.servers", brokers).create().unwrap()
}

/// Without a limit a test that lost its broker would never end.
fn patiently() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(PATIENCE)).operation_timeout(Some(PATIENCE))
}

pub(crate) fn entry(position: i64, draft: EventBuilder) -> Entry {
    let id = EventId::from_bytes(u128::from(position.unsigned_abs()).to_be_bytes());
    let stamp = Stamp { id, now: Timestamp(1_700_000_000_123_456) };
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

/// An entry whose payload is its position.
pub(crate) fn small(position: i64, key: &str, topic: &str) -> Entry {
    entry(position, Event::of("a").topic(topic).key(key).json(&position).unwrap())
}

/// An entry with a payload of so many bytes.
pub(crate) fn large(position: i64, key: &str, topic: &str, bytes: usize) -> Entry {
    entry(position, Event::of("a").topic(topic).key(key).bytes(vec![b'x'; bytes], "text/plain"))
}

/// The options for the broker that all tests share, with time enough for a machine that does other things.
pub(crate) fn options() -> KafkaOptions {
    KafkaOptions { timeout: PATIENCE, ..KafkaOptions::new(posthaste_services::kafka()) }
}

pub(crate) fn sink(options: &KafkaOptions) -> KafkaSink {
    KafkaSink::new(options).unwrap()
}

pub(crate) async fn deliver(sink: &KafkaSink, batch: &[Entry]) -> Vec<Delivery> {
    sink.deliver(batch, Instant::now() + PATIENCE).await
}

pub(crate) async fn deliver_all(sink: &KafkaSink, batch: &[Entry]) {
    let answers = deliver(sink, batch).await;
    assert_eq!(answers.len(), batch.len());
    assert!(answers.iter().all(|answer| *answer == Delivery::Delivered), "{}", letters(&answers));
}

/// The answers as letters: delivered, failed, unavailable, not sent.
pub(crate) fn letters(answers: &[Delivery]) -> String {
    use posthaste_core::FaultKind;
    let letter = |answer: &Delivery| match answer {
        Delivery::Delivered => 'd',
        Delivery::Failed(Fault { kind: FaultKind::Unavailable, .. }) => 'u',
        Delivery::Failed(_) => 'f',
        Delivery::NotSent => '-',
    };
    answers.iter().map(letter).collect()
}

/// Nothing was delivered, and the first of all says that the destination is down.
pub(crate) fn assert_outage(batch: &[Entry], answers: &[Delivery]) {
    assert_promise(batch, answers);
    let letters = letters(answers);
    assert!(letters.starts_with('u') && !letters.contains(['d', 'f']), "{letters}");
}

pub(crate) fn fault(answer: &Delivery) -> &Fault {
    let Delivery::Failed(fault) = answer else { panic!("{answer:?} is no fault") };
    fault
}

/// What every sink promises: of each key deliveries, then at most one fault, then nothing.
pub(crate) fn assert_promise(batch: &[Entry], answers: &[Delivery]) {
    assert_eq!(batch.len(), answers.len());
    let mut ended: BTreeMap<&str, Vec<&Delivery>> = BTreeMap::new();
    for (entry, answer) in batch.iter().zip(answers) {
        let Some(key) = entry.event.key.as_deref() else { continue };
        let before = ended.entry(key).or_default();
        let fine = before.is_empty() || *answer == Delivery::NotSent;
        assert!(fine, "{answer:?} of key {key} comes after {before:?}");
        if *answer != Delivery::Delivered {
            before.push(answer);
        }
    }
}

/// A record as a consumer sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Consumed {
    pub(crate) partition: i32,
    pub(crate) key: Option<String>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) headers: Vec<(String, String)>,
}

impl Consumed {
    /// The payload of a [`small`] entry.
    pub(crate) fn number(&self) -> i64 {
        std::str::from_utf8(self.value.as_deref().unwrap()).unwrap().parse().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, text)| text.as_str())
    }
}

/// Everything in the topic, each partition in its order. Blocks.
pub(crate) fn consume(brokers: &str, topic: &str) -> Vec<Consumed> {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", brokers)
        .set("group.id", "tests")
        .set("auto.offset.reset", "earliest")
        .set("check.crcs", "true")
        .create()
        .unwrap();
    let metadata = consumer.fetch_metadata(Some(topic), PATIENCE).unwrap();
    let mut missing = 0;
    let mut from = TopicPartitionList::new();
    for partition in metadata.topics()[0].partitions() {
        let (low, high) = consumer.fetch_watermarks(topic, partition.id(), PATIENCE).unwrap();
        from.add_partition_offset(topic, partition.id(), rdkafka::Offset::Offset(low)).unwrap();
        missing += high - low;
    }
    consumer.assign(&from).unwrap();
    let mut all = Vec::new();
    let deadline = Instant::now() + PATIENCE;
    while missing > 0 {
        assert!(Instant::now() < deadline, "{missing} records below the watermark do not come");
        // What goes wrong on the way is tried again by the consumer itself.
        if let Some(Ok(record)) = consumer.poll(Duration::from_secs(1)) {
            all.push(consumed(&record));
            missing -= 1;
        }
    }
    all
}

fn consumed(record: &rdkafka::message::BorrowedMessage<'_>) -> Consumed {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let headers = record.headers().map(|headers| {
        headers.iter().map(|header| (header.key.to_owned(), text(header.value.unwrap()))).collect()
    });
    Consumed {
        partition: record.partition(),
        key: record.key().map(text),
        value: record.payload().map(<[u8]>::to_vec),
        headers: headers.unwrap_or_default(),
    }
}

/// The numbers of [`small`] entries in the topic, key by key.
pub(crate) fn numbers_by_key(brokers: &str, topic: &str) -> BTreeMap<String, Vec<i64>> {
    let mut numbers: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    for record in consume(brokers, topic) {
        let number = record.number();
        numbers.entry(record.key.unwrap()).or_default().push(number);
    }
    numbers
}

/// A JSON payload as it stands.
pub(crate) fn json(text: &str) -> Payload {
    Payload::Json(text.to_owned())
}
