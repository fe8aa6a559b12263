//! What is known of topics: how many partitions they have, and where this client has written before.
//!
//! Partitions are chosen here rather than by the client, because where a record goes decides what may be sent with it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use posthaste_core::Fault;
use rdkafka::{error::RDKafkaErrorCode, metadata::MetadataTopic};

use crate::partition;

/// After this long a topic is looked up again: it may have more partitions by now.
const FRESH: Duration = Duration::from_secs(300);

/// For so long it is remembered that a topic may not be written: each try costs everybody the client.
const REFUSAL: Duration = Duration::from_secs(30);

/// A broker forgets a producer after a day at the least; well before that a partition is cold again.
const WARMTH: u64 = 600;

/// All topics that the sink has met.
#[derive(Debug)]
pub(crate) struct Topics {
    known: Mutex<HashMap<String, Known>>,
    began: Instant,
}

#[derive(Clone, Debug)]
enum Known {
    Topic(Arc<Topic>),
    Refused { fault: Fault, until: Instant },
}

/// One topic.
#[derive(Debug)]
pub(crate) struct Topic {
    pub(crate) name: String,
    partitions: Vec<Partition>,
    next: AtomicUsize,
    fetched: Instant,
}

#[derive(Debug)]
struct Partition {
    /// It had a leader when it was looked up.
    led: bool,
    /// In which generation and second something was written to it last.
    warm: AtomicU64,
}

impl Topics {
    pub(crate) fn new(now: Instant) -> Self {
        Self { known: Mutex::default(), began: now }
    }

    /// The topic, if it is known and need not be looked up; or why nothing may be written to it.
    pub(crate) fn get(&self, name: &str, now: Instant) -> Option<Result<Arc<Topic>, Fault>> {
        match self.lock().get(name)? {
            Known::Topic(topic) if now < topic.fetched + FRESH => Some(Ok(Arc::clone(topic))),
            Known::Refused { fault, until } if now < *until => Some(Err(fault.clone())),
            _ => None,
        }
    }

    /// The topic as it was known once: better than nothing while it cannot be looked up.
    pub(crate) fn get_old(&self, name: &str) -> Option<Arc<Topic>> {
        match self.lock().get(name)? {
            Known::Topic(topic) => Some(Arc::clone(topic)),
            Known::Refused { .. } => None,
        }
    }

    /// Keeps what the cluster says of a topic.
    pub(crate) fn learn(&self, found: &MetadataTopic, now: Instant) -> Result<Arc<Topic>, RDKafkaErrorCode> {
        if let Some(error) = found.error() {
            return Err(error.into());
        }
        let led: Vec<bool> = found.partitions().iter().map(|partition| partition.leader() >= 0).collect();
        if led.is_empty() {
            return Err(RDKafkaErrorCode::UnknownTopicOrPartition);
        }
        let topic = Arc::new(Topic::new(found.name(), &led, now));
        let mut known = self.lock();
        if let Some(Known::Topic(old)) = known.get(found.name()) {
            topic.inherit(old);
        }
        known.insert(topic.name.clone(), Known::Topic(Arc::clone(&topic)));
        Ok(topic)
    }

    /// The topic is looked up before it is used again.
    pub(crate) fn forget(&self, name: &str) {
        self.lock().remove(name);
    }

    /// Nothing may be written to the topic for some time.
    pub(crate) fn refuse(&self, name: &str, fault: Fault, now: Instant) {
        self.lock().insert(name.to_owned(), Known::Refused { fault, until: now + REFUSAL });
    }

    /// The time as marks on partitions have it.
    pub(crate) fn stamp(&self, generation: u32, now: Instant) -> Stamp {
        Stamp { generation, second: now.saturating_duration_since(self.began).as_secs() & 0xffff_ffff }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Known>> {
        // Nothing in here can panic half way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which client writes, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    generation: u32,
    second: u64,
}

impl Topic {
    pub(crate) fn new(name: &str, led: &[bool], now: Instant) -> Self {
        let partitions = led.iter().map(|led| Partition { led: *led, warm: AtomicU64::new(0) }).collect();
        Self { name: name.to_owned(), partitions, next: AtomicUsize::new(0), fetched: now }
    }

    /// Takes over the marks of what was known of it before.
    fn inherit(&self, old: &Topic) {
        for (partition, old) in self.partitions.iter().zip(&old.partitions) {
            partition.warm.store(old.warm.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Whether any partition had a leader when the topic was looked up.
    pub(crate) fn has_leader(&self) -> bool {
        self.partitions.iter().any(|partition| partition.led)
    }

    /// The partition of a key.
    pub(crate) fn partition_of(&self, key: &str) -> usize {
        partition::of_key(key.as_bytes(), self.partitions.len())
    }

    /// A partition for records without a key: another one each time, and one that has a leader if there is any. All such
    /// records of a batch go to the same, so that they travel together.
    pub(crate) fn next_partition(&self) -> usize {
        let count = self.partitions.len();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        (0..count).map(|step| (first + step) % count).find(|index| self.partitions[*index].led).unwrap_or(0)
    }

    /// Whether this client has written to the partition lately. Then the broker counts its records there and refuses one
    /// behind a gap. Of a producer that it does not know in a partition it takes whatever comes first.
    fn is_warm(&self, partition: usize, stamp: Stamp) -> bool {
        let mark = self.partitions[partition].warm.load(Ordering::Relaxed);
        mark >> 32 == u64::from(stamp.generation) && stamp.second.saturating_sub(mark & 0xffff_ffff) < WARMTH
    }

    /// Which partitions are [warm](Self::is_warm).
    pub(crate) fn warmth(&self, stamp: Stamp) -> Vec<bool> {
        (0..self.partitions.len()).map(|partition| self.is_warm(partition, stamp)).collect()
    }

    /// Something was written to the partition.
    pub(crate) fn warm(&self, partition: usize, stamp: Stamp) {
        let mark = u64::from(stamp.generation) << 32 | stamp.second;
        let warm = &self.partitions[partition].warm;
        // Mostly it is known already, and then the line is not taken from other threads.
        if warm.load(Ordering::Relaxed) != mark {
            warm.store(mark, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_warm_for_the_client_that_wrote_to_it_and_not_for_ever() {
        let now = Instant::now();
        let topics = Topics::new(now);
        let topic = Topic::new("t", &[true, true], now);
        let (first, second) = (topics.stamp(1, now), topics.stamp(2, now));
        assert!(!topic.is_warm(0, first));

        topic.warm(0, first);

        assert!(topic.is_warm(0, first) && !topic.is_warm(1, first) && !topic.is_warm(0, second));
        let almost = topics.stamp(1, now + Duration::from_secs(WARMTH - 1));
        let over = topics.stamp(1, now + Duration::from_secs(WARMTH));
        assert!(topic.is_warm(0, almost) && !topic.is_warm(0, over));
        let renewed = Topic::new("t", &[true, true, true], now);
        renewed.inherit(&topic);
        assert!(renewed.is_warm(0, first) && !renewed.is_warm(2, first));
    }

    #[test]
    fn records_without_a_key_go_round_the_partitions_that_have_a_leader() {
        let topic = Topic::new("t", &[true, false, true], Instant::now());

        let used: Vec<_> = (0..4).map(|_| topic.next_partition()).collect();

        assert_eq!(used, [0, 2, 2, 0]);
        assert_eq!(Topic::new("t", &[false, false], Instant::now()).next_partition(), 0);
    }

    #[test]
    fn a_refusal_is_forgotten_after_a_while() {
        let now = Instant::now();
        let topics = Topics::new(now);
        topics.refuse("secret", Fault::permanent("no"), now);

        assert_eq!(topics.get("secret", now).unwrap().unwrap_err(), Fault::permanent("no"));
        assert!(topics.get("secret", now + REFUSAL).is_none());
        assert!(topics.get_old("secret").is_none());
    }
}
