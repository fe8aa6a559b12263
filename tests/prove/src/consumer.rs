//! The consumer: writes down everything that Kafka gives out, in the order of each partition.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use anyhow::{Context, Result};
use posthaste_core::EventId;
use rdkafka::{
    ClientConfig, Message, Offset, TopicPartitionList,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer as _},
};
use serde::Deserialize;

/// Where everything goes.
pub(crate) const TOPIC: &str = "accounts";
pub(crate) const PARTITIONS: i32 = 8;

/// What has come so far.
#[derive(Default)]
pub(crate) struct Received {
    /// Every message, repeats included.
    pub(crate) messages: Vec<EventId>,
    distinct: HashSet<EventId>,
    /// Messages without an id that is understood.
    pub(crate) strangers: u64,
}

impl Received {
    pub(crate) fn has_all(&self, ids: &[EventId]) -> bool {
        ids.iter().all(|id| self.distinct.contains(id))
    }

    pub(crate) fn repeats(&self) -> usize {
        self.messages.len() - self.distinct.len()
    }
}

/// A consumer on a thread of its own.
pub(crate) struct Consumer {
    received: Arc<Mutex<Received>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Consumer {
    /// Begins at the beginning of every partition.
    pub(crate) fn start(brokers: &str) -> Result<Self> {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", brokers)
            .set("group.id", "prove")
            .set("enable.auto.commit", "false")
            .set("log_level", "0")
            .create()
            .context("cannot make a consumer")?;
        let mut all = TopicPartitionList::new();
        for partition in 0..PARTITIONS {
            all.add_partition_offset(TOPIC, partition, Offset::Beginning)?;
        }
        consumer.assign(&all).context("cannot read the topic")?;
        let (received, stop) = (Arc::<Mutex<Received>>::default(), Arc::<AtomicBool>::default());
        let thread = std::thread::spawn({
            let (received, stop) = (Arc::clone(&received), Arc::clone(&stop));
            move || listen(&consumer, &received, &stop)
        });
        Ok(Self { received, stop, thread: Some(thread) })
    }

    pub(crate) fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

fn listen(consumer: &BaseConsumer, received: &Mutex<Received>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        // Errors are those of a broker that is away: it will be back.
        let Some(Ok(message)) = consumer.poll(Duration::from_millis(100)) else { continue };
        let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
        match message.payload().and_then(id_of) {
            Some(id) => {
                received.messages.push(id);
                received.distinct.insert(id);
            }
            None => received.strangers += 1,
        }
    }
}

/// What of a value tells whether it came before, as a consumer would read it.
#[derive(Deserialize)]
struct Value {
    #[serde(rename = "messageId")]
    message_id: String,
}

fn id_of(value: &[u8]) -> Option<EventId> {
    serde_json::from_slice::<Value>(value).ok()?.message_id.parse().ok()
}

/// Makes the topic.
pub(crate) async fn create_topic(brokers: &str) -> Result<()> {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", brokers).create().context("cannot reach Kafka")?;
    let topic = NewTopic::new(TOPIC, PARTITIONS, TopicReplication::Fixed(1));
    for made in admin.create_topics(&[topic], &AdminOptions::new()).await? {
        made.map_err(|(topic, code)| anyhow::anyhow!("cannot make topic {topic}: {code}"))?;
    }
    Ok(())
}
