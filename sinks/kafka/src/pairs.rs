//! Options from names and texts, as they stand in a configuration or behind the `?` of a URL.

use std::{fmt::Display, path::PathBuf, str::FromStr, time::Duration};

use posthaste_core::{Error, Result};

use crate::{KafkaOptions, Sasl, SaslMechanism, Secret, Tls};

const KNOWN: [&str; 17] = [
    "topic",
    "format",
    "source",
    "unknown_topic",
    "tombstones",
    "compression",
    "linger",
    "timeout",
    "message_max_bytes",
    "tls",
    "tls.ca",
    "tls.certificate",
    "tls.key",
    "tls.key_password",
    "sasl.mechanism",
    "sasl.user",
    "sasl.password",
];

/// What begins so is a property of librdkafka.
const EXTRA: &str = "kafka.";

impl KafkaOptions {
    /// Reads options from names and texts. Names that begin with `kafka.` are properties of librdkafka. Fails with
    /// everything that is not understood; the values themselves are checked when the sink is made.
    ///
    /// ```
    /// use posthaste_kafka::KafkaOptions;
    ///
    /// let options = KafkaOptions::from_pairs("localhost:9092", [("format", "raw"), ("linger", "2ms"), ("tls", "true")])?;
    /// assert!(options.tls.is_some());
    ///
    /// let error = KafkaOptions::from_pairs("localhost:9092", [("formt", "raw"), ("tls", "maybe")]).unwrap_err();
    /// assert!(error.to_string().contains("formt") && error.to_string().contains("maybe"));
    /// # Ok::<(), posthaste_core::Error>(())
    /// ```
    pub fn from_pairs<N, V>(brokers: &str, pairs: impl IntoIterator<Item = (N, V)>) -> Result<Self>
    where
        N: AsRef<str>,
        V: AsRef<str>,
    {
        let mut reader =
            Reader { options: Self::new(brokers), sasl: PartialSasl::default(), problems: Vec::new() };
        for (name, value) in pairs {
            reader.read(name.as_ref(), value.as_ref());
        }
        reader.finish()
    }
}

struct Reader {
    options: KafkaOptions,
    sasl: PartialSasl,
    problems: Vec<String>,
}

#[derive(Default)]
struct PartialSasl {
    mechanism: Option<SaslMechanism>,
    user: Option<String>,
    password: Option<Secret>,
}

impl Reader {
    fn read(&mut self, name: &str, value: &str) {
        let Self { options, sasl, problems } = self;
        match name {
            "topic" => parse(name, value, &mut options.topic, problems),
            "format" => parse(name, value, &mut options.format, problems),
            "source" => options.source = value.to_owned(),
            "unknown_topic" => parse(name, value, &mut options.unknown_topic, problems),
            "tombstones" => parse(name, value, &mut options.tombstones, problems),
            "compression" => parse(name, value, &mut options.compression, problems),
            "linger" => parse_duration(name, value, &mut options.linger, problems),
            "timeout" => parse_duration(name, value, &mut options.timeout, problems),
            "message_max_bytes" => parse(name, value, &mut options.message_max_bytes, problems),
            "tls" => {
                let mut tls = options.tls.is_some();
                parse(name, value, &mut tls, problems);
                options.tls = if tls { Some(options.tls.take().unwrap_or_default()) } else { None };
            }
            "tls.ca" => tls(options).ca = Some(PathBuf::from(value)),
            "tls.certificate" => tls(options).certificate = Some(PathBuf::from(value)),
            "tls.key" => tls(options).key = Some(PathBuf::from(value)),
            "tls.key_password" => tls(options).key_password = Some(value.into()),
            "sasl.mechanism" => match value.parse() {
                Ok(mechanism) => sasl.mechanism = Some(mechanism),
                Err(error) => problems.push(not_understood(name, value, error)),
            },
            "sasl.user" => sasl.user = Some(value.to_owned()),
            "sasl.password" => sasl.password = Some(value.into()),
            _ => match name.strip_prefix(EXTRA) {
                Some(property) => drop(options.extra.insert(property.to_owned(), value.into())),
                None => problems.push(format!(
                    "{name}: is no option; there are {}, and {EXTRA}* for properties of librdkafka",
                    KNOWN.join(", ")
                )),
            },
        }
    }

    fn finish(mut self) -> Result<KafkaOptions> {
        let PartialSasl { mechanism, user, password } = self.sasl;
        match (mechanism, user, password) {
            (None, None, None) => {}
            (Some(mechanism), Some(user), Some(password)) => {
                self.options.sasl = Some(Sasl { mechanism, user, password });
            }
            _ => self.problems.push("sasl: needs sasl.mechanism, sasl.user and sasl.password".to_owned()),
        }
        if self.problems.is_empty() {
            return Ok(self.options);
        }
        Err(Error::invalid(format!(
            "the options of the Kafka sink are wrong:\n- {}",
            self.problems.join("\n- ")
        )))
    }
}

fn tls(options: &mut KafkaOptions) -> &mut Tls {
    options.tls.get_or_insert_default()
}

fn parse<T: FromStr>(name: &str, value: &str, into: &mut T, problems: &mut Vec<String>)
where
    T::Err: Display,
{
    match value.parse() {
        Ok(parsed) => *into = parsed,
        Err(error) => problems.push(not_understood(name, value, error)),
    }
}

fn parse_duration(name: &str, value: &str, into: &mut Duration, problems: &mut Vec<String>) {
    match humantime::parse_duration(value) {
        Ok(parsed) => *into = parsed,
        Err(_) => problems.push(not_understood(name, value, "write a time such as 2ms or 10s")),
    }
}

fn not_understood(name: &str, value: &str, allowed: impl Display) -> String {
    format!("{name} {value:?}: {allowed}")
}
