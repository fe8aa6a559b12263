//! One client of librdkafka, from its start to its end.
//!
//! A client serves until something happens after which it can keep no promise: a record was refused and those behind it
//! must not pass, or the time of a wave is over and nothing may leave the queue any more. Then it is *retired*: what it has
//! queued is taken back at once, what is on the wire has a moment to be acknowledged, and the next wave gets a new client.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use posthaste_core::{Error, ErrorKind, Result};
use rdkafka::{
    ClientConfig, ClientContext,
    config::RDKafkaLogLevel,
    error::{KafkaError, RDKafkaErrorCode},
    producer::{BaseProducer, BaseRecord, DeliveryResult, Producer as _, ProducerContext, PurgeConfig},
};
use tokio::sync::watch;
use tracing::{debug, warn};

use crate::receipts::{Receipt, Receipts};

/// How often the client's thread looks whether it has been retired. It waits in whole milliseconds and passes what is left of
/// its time without rest, so that often is dear; the fraction makes nothing left where nothing happens.
const TICK: Duration = Duration::from_micros(50_200);

/// How often what a retired client has queued is taken back.
pub(crate) const SWEEP: Duration = Duration::from_millis(10);

/// The longest time for which a thread is blocked: a program that ends has to wait for it.
const SLICE: Duration = Duration::from_millis(500);

/// A record as the client takes it.
pub(crate) type Record<'a> = BaseRecord<'a, [u8], [u8], usize>;

/// One client; see the [module](self).
pub(crate) struct Producer {
    client: Arc<BaseProducer<Desk>>,
    /// Counts the clients of the sink, from 1.
    pub(crate) generation: u32,
}

/// What the client tells, and whom it wakes.
pub(crate) struct Desk {
    pub(crate) receipts: Receipts,
    health: watch::Sender<Health>,
    last_error: Mutex<Option<(Instant, String)>>,
}

/// How the client is.
#[derive(Clone, Debug)]
enum Health {
    Serving,
    /// The cluster does not want us, and why: waiting will not help.
    Refused(String),
    /// What is on the wire is given up at this time.
    Retired {
        end: Instant,
    },
}

impl Producer {
    /// Starts a client and its thread. It connects by itself.
    pub(crate) fn start(config: &ClientConfig, generation: u32) -> Result<Self> {
        let desk = Desk {
            receipts: Receipts::default(),
            health: watch::Sender::new(Health::Serving),
            last_error: Mutex::new(None),
        };
        let client: BaseProducer<Desk> = config.create_with_context(desk).map_err(|error| {
            Error::new(ErrorKind::Invalid, "the Kafka client cannot be started").with_source(error)
        })?;
        let client = Arc::new(client);
        let tended = Arc::clone(&client);
        thread::Builder::new().name("posthaste-kafka".to_owned()).spawn(move || tend(tended)).map_err(
            |error| Error::new(ErrorKind::Unexpected, "no thread for the Kafka client").with_source(error),
        )?;
        Ok(Self { client, generation })
    }

    /// Puts a record into the client's queue, or gives it back and says why. Its receipt comes only if it was taken.
    pub(crate) fn send<'a>(&self, record: Record<'a>) -> Result<(), (RDKafkaErrorCode, Record<'a>)> {
        self.client.send(record).map_err(|(error, record)| {
            (error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::InvalidArgument), record)
        })
    }

    pub(crate) fn desk(&self) -> &Desk {
        self.client.context()
    }

    /// Ends the client: from now on nothing leaves its queue, and at the end what is on the wire is given up.
    pub(crate) fn retire(&self, end: Instant) {
        self.desk().retire(end);
        self.sweep();
    }

    /// Takes back what is queued. What was on the wire and failed is queued once more, so once is not enough.
    pub(crate) fn sweep(&self) {
        self.client.purge(PurgeConfig::default().queue());
    }

    /// What the cluster says of a topic, or of all. Blocks until the deadline at the latest, or until the client is retired.
    pub(crate) fn fetch_metadata(
        &self,
        topic: Option<&str>,
        deadline: Instant,
    ) -> Result<rdkafka::metadata::Metadata, KafkaError> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let fetched = self.client.client().fetch_metadata(topic, left.min(SLICE));
            if fetched.is_ok() || left <= SLICE || self.desk().is_retired() {
                return fetched;
            }
        }
    }
}

impl fmt::Debug for Producer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.retire(Instant::now());
    }
}

impl Desk {
    /// Tells the client's thread that the client ends, and when what is on the wire is given up.
    fn retire(&self, end: Instant) {
        self.health.send_modify(|health| {
            let end = match health {
                Health::Retired { end: earlier } => end.min(*earlier),
                _ => end,
            };
            *health = Health::Retired { end };
        });
    }

    pub(crate) fn is_retired(&self) -> bool {
        matches!(*self.health.borrow(), Health::Retired { .. })
    }

    /// When what is on the wire is given up: now, unless it was said.
    fn end(&self) -> Instant {
        match *self.health.borrow() {
            Health::Retired { end } => end,
            _ => Instant::now(),
        }
    }

    /// Waits until the cluster says that it does not want us.
    pub(crate) async fn refused(&self) -> String {
        let mut health = self.health.subscribe();
        loop {
            if let Health::Refused(reason) = &*health.borrow_and_update() {
                return reason.clone();
            }
            // The sender is ours, so that it cannot be gone.
            let _ = health.changed().await;
        }
    }

    /// The last thing that went wrong since then, in the client's words.
    pub(crate) fn error_since(&self, began: Instant) -> Option<String> {
        let last = self.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().filter(|(at, _)| *at >= began).map(|(_, text)| text.clone())
    }
}

impl ClientContext for Desk {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        // That we use an experimental property is on purpose, and a fatal error is told by whoever replaces the client.
        let known = matches!(facility, "CONFWARN" | "FATAL");
        if known || level as i32 > RDKafkaLogLevel::Error as i32 {
            debug!(facility, text = message, "the Kafka client says");
        } else {
            warn!(facility, text = message, "the Kafka client says");
        }
    }

    fn error(&self, error: KafkaError, reason: &str) {
        let code = error.rdkafka_error_code();
        let text = if reason.is_empty() { error.to_string() } else { reason.to_owned() };
        debug!(error = %text, "the Kafka client met an error");
        if matches!(code, Some(RDKafkaErrorCode::Authentication | RDKafkaErrorCode::SSL)) {
            self.health.send_if_modified(|health| {
                let news = matches!(health, Health::Serving);
                if news {
                    *health = Health::Refused(text.clone());
                }
                news
            });
        }
        // That all brokers are down follows from what was said of each before.
        if code != Some(RDKafkaErrorCode::AllBrokersDown) {
            *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), text));
        }
    }
}

impl ProducerContext for Desk {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        let receipt = match result {
            Ok(_) => Receipt::Acknowledged,
            Err((error, _)) => {
                Receipt::Failed(error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Unknown))
            }
        };
        self.receipts.settle(number, receipt);
    }
}

/// The life of a client's thread: hears what the client says, and ends the client when it is retired.
fn tend(client: Arc<BaseProducer<Desk>>) {
    let desk = Arc::clone(client.context());
    while !desk.is_retired() {
        client.poll(TICK);
        if let Some((code, reason)) = client.client().fatal_error() {
            warn!(%code, reason, "the Kafka client has to be replaced");
            desk.retire(Instant::now() + GRACE);
        }
    }
    // Again and again: a request on the wire that fails now would be queued once more, to be sent once more.
    while client.in_flight_count() > 0 && Instant::now() < desk.end() {
        client.purge(PurgeConfig::default().queue());
        client.poll(SWEEP);
    }
    // Others may still have it for a moment. The client must end here: its end blocks.
    while client.in_flight_count() > 0 || Arc::strong_count(&client) > 1 {
        client.purge(PurgeConfig::default().queue().inflight());
        client.poll(SWEEP);
    }
}

/// How long records of others that are on the wire have to be acknowledged when a client has failed.
const GRACE: Duration = Duration::from_secs(2);
