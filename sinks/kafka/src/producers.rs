//! The clients of a sink: one that sends records together, one that sends suspects alone, and their successors.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use posthaste_core::{Fault, Result};
use rdkafka::ClientConfig;
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::{fault::Way, producer::Producer};

/// Batches are not made smaller than this.
const SMALLEST_BATCH: usize = 16 * 1024;

/// How long a client that is replaced without need has for what is on the wire.
const GRACE: Duration = Duration::from_secs(2);

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Producers {
    config: ClientConfig,
    batch_bytes: AtomicUsize,
    /// The first client that makes batches of this size.
    batch_since: AtomicU32,
    started: AtomicU32,
    together: Current,
    alone: Current,
}

/// The client that serves now.
#[derive(Debug, Default)]
struct Current {
    producer: Mutex<Option<Arc<Producer>>>,
    /// Only one starts a client; the others wait for it.
    starting: tokio::sync::Mutex<()>,
}

impl Producers {
    /// Starts the first client, so that a configuration that cannot work is known at once.
    pub(crate) fn start(config: ClientConfig, batch_bytes: usize) -> Result<Self> {
        let producers = Self {
            config,
            batch_bytes: AtomicUsize::new(batch_bytes),
            batch_since: AtomicU32::new(0),
            started: AtomicU32::new(0),
            together: Current::default(),
            alone: Current::default(),
        };
        let (config, generation) = producers.next(Way::Together);
        producers.together.set(Producer::start(&config, generation)?);
        Ok(producers)
    }

    /// A client that serves: the present one, or a new one if that was retired.
    pub(crate) async fn get(&self, way: Way) -> Result<Arc<Producer>, Fault> {
        let current = self.current(way);
        if let Some(producer) = current.serving() {
            return Ok(producer);
        }
        let _starting = current.starting.lock().await;
        if let Some(producer) = current.serving() {
            return Ok(producer);
        }
        let (config, generation) = self.next(way);
        info!(generation, ?way, "a new Kafka client is started");
        let started = spawn_blocking(move || Producer::start(&config, generation)).await;
        match started {
            Ok(Ok(producer)) => Ok(current.set(producer)),
            Ok(Err(error)) => Err(Fault::unavailable(error.chain())),
            Err(error) => Err(Fault::unavailable(format!("the Kafka client cannot be started: {error}"))),
        }
    }

    /// Smaller batches from now on: a topic took every record alone that it did not take together from this client. Many
    /// lanes may find that out at the same time, and only the first is heard.
    pub(crate) fn shrink_batches(&self, topic: &str, generation: u32) {
        let bytes = self.batch_bytes.load(Ordering::Relaxed);
        let smaller = (bytes / 4).max(SMALLEST_BATCH);
        let next = self.started.load(Ordering::Relaxed) + 1;
        let known = self.batch_since.fetch_max(next, Ordering::Relaxed) > generation;
        if known || smaller >= bytes {
            return;
        }
        self.batch_bytes.store(smaller, Ordering::Relaxed);
        warn!(
            topic,
            batch_bytes = smaller,
            "a topic takes smaller batches than message_max_bytes; they are made smaller"
        );
        if let Some(producer) = self.together.serving() {
            producer.retire(Instant::now() + GRACE);
        }
    }

    fn current(&self, way: Way) -> &Current {
        match way {
            Way::Together => &self.together,
            Way::Alone => &self.alone,
        }
    }

    /// The configuration and the number of the next client.
    fn next(&self, way: Way) -> (ClientConfig, u32) {
        let mut config = self.config.clone();
        match way {
            Way::Together => {
                config.set("batch.size", self.batch_bytes.load(Ordering::Relaxed).to_string());
                // After a record that was refused nothing of its partition is sent; the client is replaced instead.
                config.set("enable.gapless.guarantee", "true");
            }
            // No key has two records under way here, so that there is nothing to pass.
            Way::Alone => {
                config.set("batch.num.messages", "1");
                config.set("linger.ms", "0");
            }
        }
        (config, self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl Current {
    fn serving(&self) -> Option<Arc<Producer>> {
        let producer = self.producer.lock().unwrap_or_else(PoisonError::into_inner);
        producer.as_ref().filter(|producer| !producer.desk().is_retired()).map(Arc::clone)
    }

    fn set(&self, producer: Producer) -> Arc<Producer> {
        let producer = Arc::new(producer);
        *self.producer.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&producer));
        producer
    }
}
