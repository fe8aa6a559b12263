//! The sink: its parts, and what it asks the cluster about topics.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use posthaste_core::{Delivery, Entry, Fault, FaultKind, Result, Sink};
use posthaste_envelope::{Envelope, TopicTemplate};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use tokio::{task::spawn_blocking, time::timeout_at};

use crate::{
    KafkaOptions, UnknownTopic, config,
    fault::{self, Way},
    producers::Producers,
    run::Run,
    topics::{Topic, Topics},
    wave::Deadline,
};

/// Delivers to Kafka; see the [crate].
pub struct KafkaSink {
    brokers: String,
    timeout: Duration,
    /// The topic that was looked up last, to be asked for in a ping.
    asked: Mutex<Option<String>>,
    /// Only one lane looks up a topic; the others wait for what it finds.
    looking_up: tokio::sync::Mutex<()>,
    pub(crate) topic: TopicTemplate,
    pub(crate) envelope: Envelope,
    pub(crate) unknown_topic: UnknownTopic,
    pub(crate) producers: Producers,
    pub(crate) topics: Arc<Topics>,
}

/// The least time to wait for an answer, so that an outage is told in the client's words.
const MOMENT: Duration = Duration::from_millis(1);

/// How long a ping waits for an answer.
const PING_LIMIT: Duration = Duration::from_secs(3);

impl KafkaSink {
    /// A sink with these options. Fails with everything that is wrong with them. Whether a broker answers is not tried: it
    /// may come later.
    pub fn new(options: &KafkaOptions) -> Result<Self> {
        let client = config::build(options)?;
        let envelope = Envelope::new(options.format).source(&*options.source).tombstones(options.tombstones);
        Ok(Self {
            brokers: options.brokers.clone(),
            timeout: options.timeout,
            asked: Mutex::new(None),
            looking_up: tokio::sync::Mutex::new(()),
            topic: options.topic.clone(),
            envelope,
            unknown_topic: options.unknown_topic,
            producers: Producers::start(client, options.message_max_bytes)?,
            topics: Arc::new(Topics::new(Instant::now())),
        })
    }

    /// The topic, looked up if that is needed. The inner fault is the topic's, the outer one everybody's.
    pub(crate) async fn look_up(
        &self,
        name: &str,
        limit: Duration,
    ) -> Result<Result<Arc<Topic>, Fault>, Fault> {
        let deadline = Instant::now() + limit;
        if let Some(known) = self.topics.get(name, Instant::now()) {
            return Ok(known);
        }
        let _turn = timeout_at(deadline.into(), self.looking_up.lock()).await;
        if let Some(known) = self.topics.get(name, Instant::now()) {
            return Ok(known);
        }
        let limit = deadline.saturating_duration_since(Instant::now()).max(MOMENT);
        match self.ask(Some(name), limit).await {
            Ok(Ok(topic)) => Ok(Ok(topic)),
            Ok(Err(code)) => Ok(Err(self.topic_fault(code, name))),
            // What was known once is better than nothing: the client has its own, newer view of who leads.
            Err(outage) => self.topics.get_old(name).map(Ok).ok_or(outage),
        }
    }

    /// The fault of a topic that the cluster does not let us use, which is remembered where that saves a client.
    pub(crate) fn topic_fault(&self, code: RDKafkaErrorCode, name: &str) -> Fault {
        let fault = fault::fault(code, name, self.unknown_topic);
        if code == RDKafkaErrorCode::TopicAuthorizationFailed {
            self.topics.refuse(name, fault.clone(), Instant::now());
        }
        fault
    }

    /// Asks the cluster about a topic, or about all if none is given.
    async fn ask(
        &self,
        name: Option<&str>,
        limit: Duration,
    ) -> Result<Result<Arc<Topic>, RDKafkaErrorCode>, Fault> {
        let began = Instant::now();
        if let Some(name) = name {
            *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
        }
        let producer = self.producers.get(Way::Together).await?;
        let (asking, topics) = (Arc::clone(&producer), Arc::clone(&self.topics));
        let name = name.map(str::to_owned);
        let asked = spawn_blocking(move || {
            let found = asking.fetch_metadata(name.as_deref(), began + limit)?;
            let topic =
                found.topics().iter().find(|topic| name.as_deref().is_none_or(|name| topic.name() == name));
            Ok(topic.map_or(Err(RDKafkaErrorCode::UnknownTopic), |topic| topics.learn(topic, Instant::now())))
        });
        let error: String = tokio::select! {
            biased;
            reason = producer.desk().refused() => {
                producer.retire(Instant::now());
                return Err(self.refused(&reason));
            }
            asked = asked => match asked {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => KafkaError::to_string(&error),
                Err(error) => error.to_string(),
            },
        };
        Err(self.outage(producer.desk().error_since(began).unwrap_or(error)))
    }

    /// Nobody answers, and why.
    pub(crate) fn outage(&self, error: impl fmt::Display) -> Fault {
        Fault::unavailable(format!("Kafka at {} does not answer: {error}", self.brokers))
    }

    /// The cluster does not want us, and why.
    pub(crate) fn refused(&self, reason: &str) -> Fault {
        Fault::unavailable(format!(
            "Kafka at {} refuses the connection; look at the settings sasl and tls: {reason}",
            self.brokers
        ))
    }
}

#[async_trait]
impl Sink for KafkaSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let deadline = Deadline::new(Instant::now(), until, self.timeout);
        Run::new(self, batch, deadline).deliver().await
    }

    /// Asks for the topic that was used last, or for the only one. It is enough if any partition has a leader: which one an event needs is
    /// found out by sending it.
    async fn ping(&self) -> Result<(), Fault> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let asked = asked.or_else(|| self.topic.fixed().map(str::to_owned));
        match self.ask(asked.as_deref(), PING_LIMIT).await? {
            Ok(topic) if !topic.has_leader() => {
                Err(Fault::unavailable(format!("topic {:?} has no leader in any partition", topic.name)))
            }
            Ok(_) => Ok(()),
            Err(code) => match self.topic.fixed().map(|name| self.topic_fault(code, name)) {
                Some(fault) if fault.kind == FaultKind::Unavailable => Err(fault),
                // The cluster is there, and other topics may be.
                _ => Ok(()),
            },
        }
    }
}

impl fmt::Debug for KafkaSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KafkaSink")
            .field("brokers", &self.brokers)
            .field("topic", &self.topic.to_string())
            .finish_non_exhaustive()
    }
}
