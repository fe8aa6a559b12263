//! The options of the sink.

use std::{collections::BTreeMap, fmt, path::PathBuf, str::FromStr, time::Duration};

use posthaste_core::{Error, Result};
use posthaste_envelope::{Format, TopicTemplate};

/// How the sink reaches Kafka, and what it sends.
///
/// ```
/// use posthaste_kafka::{Compression, KafkaOptions};
///
/// let options = KafkaOptions {
///     topic: "shop.{aggregate_type}".parse()?,
///     compression: Compression::Lz4,
///     ..KafkaOptions::new("kafka-1:9092,kafka-2:9092")
/// };
/// # drop(options);
/// # Ok::<(), posthaste_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KafkaOptions {
    /// Some brokers of the cluster, as `host:port`, separated by commas.
    pub brokers: String,
    /// Where an event goes: a name, in which parts of the event may stand. Default: the event's own topic.
    pub topic: TopicTemplate,
    /// What a record looks like. Default: [`Format::Posthaste`].
    pub format: Format,
    /// What CloudEvents name as their source. Default: `posthaste`.
    pub source: String,
    /// What becomes of an event whose topic does not exist. Default: it waits.
    pub unknown_topic: UnknownTopic,
    /// A JSON payload of `null` is a null value, which deletes the key in a compacted topic. Default: it is the text `null`.
    pub tombstones: bool,
    /// How batches are compressed. Default: not at all.
    pub compression: Compression,
    /// How long the first record of a batch waits for company. Default: not at all. Under load they have company anyway, and the client
    /// counts in milliseconds: however short it is, it adds one or two.
    pub linger: Duration,
    /// How long a batch may take, if the relay's lease does not end it before. Default: 10 seconds.
    pub timeout: Duration,
    /// No record, and no batch of records, is larger than this. Default: 1,000,000. It must not be more than the topics'
    /// `max.message.bytes`.
    pub message_max_bytes: usize,
    /// Encryption, if there is any.
    pub tls: Option<Tls>,
    /// How the sink says who it is, if it does.
    pub sasl: Option<Sasl>,
    /// Further properties of librdkafka, by their own names. Any of them may be a password, so that none is shown.
    pub extra: BTreeMap<String, Secret>,
}

impl KafkaOptions {
    /// The defaults, for these brokers.
    pub fn new(brokers: impl Into<String>) -> Self {
        Self {
            brokers: brokers.into(),
            topic: TopicTemplate::default(),
            format: Format::default(),
            source: "posthaste".to_owned(),
            unknown_topic: UnknownTopic::default(),
            tombstones: false,
            compression: Compression::default(),
            linger: Duration::ZERO,
            timeout: Duration::from_secs(10),
            message_max_bytes: 1_000_000,
            tls: None,
            sasl: None,
            extra: BTreeMap::new(),
        }
    }

    /// Says everything that is wrong with the options, without starting anything.
    pub fn validate(&self) -> Result<()> {
        crate::config::build(self).map(drop)
    }
}

/// What becomes of an event whose topic does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownTopic {
    /// It waits for the topic, as for a destination that is down.
    #[default]
    Wait,
    /// It is a dead letter at once.
    Dead,
}

/// How batches are compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    #[default]
    None,
    /// Fast, and good enough for most.
    Lz4,
    /// Like LZ4.
    Snappy,
    /// Smaller, and costs more.
    Zstd,
    /// For consumers that know nothing else.
    Gzip,
}

/// Encryption.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// A file with the certificates of those who may vouch for the brokers. Default: the system's.
    pub ca: Option<PathBuf>,
    /// The sink's own certificate, and its key: both or none.
    pub certificate: Option<PathBuf>,
    /// The key of the sink's own certificate.
    pub key: Option<PathBuf>,
    /// What the key is encrypted with.
    pub key_password: Option<Secret>,
}

/// How the sink says who it is.
#[derive(Clone, Debug)]
pub struct Sasl {
    /// The way it does so.
    pub mechanism: SaslMechanism,
    /// Its name.
    pub user: String,
    /// Its password.
    pub password: Secret,
}

/// The ways to say who one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SaslMechanism {
    /// The password itself; only with TLS.
    Plain,
    /// A proof of the password.
    ScramSha256,
    /// A longer proof of the password.
    ScramSha512,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl UnknownTopic {
    const ALL: [(&str, UnknownTopic); 2] = [("wait", UnknownTopic::Wait), ("dead", UnknownTopic::Dead)];
}

impl FromStr for UnknownTopic {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        choose(text, &Self::ALL)
    }
}

impl Compression {
    const ALL: [(&str, Compression); 5] = [
        ("none", Compression::None),
        ("lz4", Compression::Lz4),
        ("snappy", Compression::Snappy),
        ("zstd", Compression::Zstd),
        ("gzip", Compression::Gzip),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, value)| *value == self).map_or("none", |(name, _)| name)
    }
}

impl FromStr for Compression {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        choose(text, &Self::ALL)
    }
}

impl SaslMechanism {
    const ALL: [(&str, SaslMechanism); 3] = [
        ("PLAIN", SaslMechanism::Plain),
        ("SCRAM-SHA-256", SaslMechanism::ScramSha256),
        ("SCRAM-SHA-512", SaslMechanism::ScramSha512),
    ];

    pub(crate) fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(_, value)| *value == self).map_or("PLAIN", |(name, _)| name)
    }
}

impl FromStr for SaslMechanism {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        choose(&text.to_ascii_uppercase(), &Self::ALL)
    }
}

fn choose<T: Copy>(text: &str, all: &[(&'static str, T)]) -> Result<T> {
    all.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or_else(|| {
        let allowed: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        Error::invalid(format!("allowed are {}", allowed.join(", ")))
    })
}
