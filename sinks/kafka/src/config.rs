//! From options to the client's configuration, with everything that is wrong with them at once.

use std::{fs::File, path::PathBuf, time::Duration};

use posthaste_core::{Error, Result};
use rdkafka::{ClientConfig, config::RDKafkaLogLevel};
use tracing::warn;

use crate::{KafkaOptions, SaslMechanism};

/// Properties that nobody may set: each would break a promise, or has an option of its own.
const RESERVED: [(&str, &str); 29] = [
    ("acks", "an event would count as delivered before every replica has it"),
    ("request.required.acks", "an event would count as delivered before every replica has it"),
    ("enable.idempotence", "events could be doubled and reordered by the client's own retries"),
    ("enable.gapless.guarantee", "an event could pass one of its key that was refused"),
    ("message.timeout.ms", "an event could pass one of its key that timed out; set `timeout`"),
    ("delivery.timeout.ms", "an event could pass one of its key that timed out; set `timeout`"),
    ("retries", "an event could pass one of its key that was given up"),
    ("message.send.max.retries", "an event could pass one of its key that was given up"),
    ("queuing.strategy", "events of a key would be turned round"),
    ("delivery.report.only.error", "the sink would never hear that an event was delivered"),
    ("transactional.id", "the sink does not use transactions"),
    ("partitioner", "the sink chooses the partition, as Kafka's own clients do"),
    ("partitioner_cb", "the sink chooses the partition, as Kafka's own clients do"),
    ("bootstrap.servers", "set `brokers`"),
    ("metadata.broker.list", "set `brokers`"),
    ("message.max.bytes", "set `message_max_bytes`"),
    ("batch.size", "set `message_max_bytes`"),
    ("linger.ms", "set `linger`"),
    ("queue.buffering.max.ms", "set `linger`"),
    ("compression.type", "set `compression`"),
    ("compression.codec", "set `compression`"),
    ("ssl.ca.location", "set `tls`"),
    ("ssl.certificate.location", "set `tls`"),
    ("ssl.key.location", "set `tls`"),
    ("ssl.key.password", "set `tls`"),
    ("sasl.mechanism", "set `sasl`"),
    ("sasl.mechanisms", "set `sasl`"),
    ("sasl.username", "set `sasl`"),
    ("sasl.password", "set `sasl`"),
];

/// Properties that make the connection less safe, with the value that does.
const UNSAFE: [(&str, &str); 2] =
    [("enable.ssl.certificate.verification", "false"), ("ssl.endpoint.identification.algorithm", "none")];

/// The configuration of the client, or everything that is wrong with the options.
pub(crate) fn build(options: &KafkaOptions) -> Result<ClientConfig> {
    let problems = problems(options);
    if !problems.is_empty() {
        return Err(Error::invalid(format!("the Kafka sink cannot be used:\n- {}", problems.join("\n- "))));
    }
    let mut config = promised(options);
    secure(&mut config, options);
    for (name, value) in &options.extra {
        let value = value.reveal();
        config.set(name, value);
        if UNSAFE.contains(&(name.as_str(), value)) {
            warn!(property = %name, %value, "anybody may pretend to be the broker");
        }
    }
    Ok(config)
}

/// What the promises of the sink need, and what makes it quick.
fn promised(options: &KafkaOptions) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set_log_level(RDKafkaLogLevel::Warning);
    let bytes = options.message_max_bytes.to_string();
    let linger = format!("{}", options.linger.as_secs_f64() * 1_000.0);
    for (name, value) in [
        ("bootstrap.servers", options.brokers.as_str()),
        ("client.id", "posthaste"),
        ("enable.idempotence", "true"),
        ("acks", "all"),
        // Deadlines are kept by taking back what is queued. A timeout of the client's own would let later records pass.
        ("message.timeout.ms", "0"),
        ("message.max.bytes", &bytes),
        ("linger.ms", &linger),
        ("compression.type", options.compression.as_str()),
        // So much is queued at most, whatever the brokers do. Beyond that the sink waits.
        ("queue.buffering.max.messages", "100000"),
        ("queue.buffering.max.kbytes", "65536"),
        // A connection that died without a word is noticed while the batch still has time.
        ("socket.timeout.ms", "5000"),
        ("socket.keepalive.enable", "true"),
        ("socket.connection.setup.timeout.ms", "5000"),
        ("reconnect.backoff.max.ms", "1000"),
        ("retry.backoff.max.ms", "500"),
        ("allow.auto.create.topics", "true"),
        ("enable.metrics.push", "false"),
        ("log.connection.close", "false"),
    ] {
        config.set(name, value);
    }
    config
}

fn secure(config: &mut ClientConfig, options: &KafkaOptions) {
    let protocol = match (&options.tls, &options.sasl) {
        (None, None) => "plaintext",
        (Some(_), None) => "ssl",
        (None, Some(_)) => "sasl_plaintext",
        (Some(_), Some(_)) => "sasl_ssl",
    };
    config.set("security.protocol", protocol);
    if let Some(tls) = &options.tls {
        // OpenSSL is built in and does not know where this system keeps its certificates.
        config
            .set("ssl.ca.location", tls.ca.as_deref().map_or("probe".into(), |path| path.to_string_lossy()));
        let files = [("ssl.certificate.location", &tls.certificate), ("ssl.key.location", &tls.key)];
        for (name, path) in files {
            if let Some(path) = path {
                config.set(name, path.to_string_lossy());
            }
        }
        if let Some(password) = &tls.key_password {
            config.set("ssl.key.password", password.reveal());
        }
    }
    if let Some(sasl) = &options.sasl {
        config.set("sasl.mechanism", sasl.mechanism.as_str());
        config.set("sasl.username", &sasl.user);
        config.set("sasl.password", sasl.password.reveal());
        if options.tls.is_none() && sasl.mechanism == SaslMechanism::Plain {
            warn!("the password is sent to Kafka without encryption; set `tls`");
        }
    }
}

/// Everything that is wrong, each with the option, its value and what is allowed.
fn problems(options: &KafkaOptions) -> Vec<String> {
    let mut problems = Vec::new();
    let KafkaOptions { brokers, linger, timeout, message_max_bytes, .. } = options;
    if brokers.trim().is_empty() || brokers.split(',').any(|broker| !is_address(broker.trim())) {
        problems.push(format!("brokers {brokers:?}: write host:port, several separated by commas"));
    }
    if *linger > Duration::from_secs(1) {
        problems.push(format!("linger {linger:?}: up to 1s is allowed; every event waits so long"));
    }
    if !(Duration::from_millis(100)..=Duration::from_secs(300)).contains(timeout) {
        problems.push(format!("timeout {timeout:?}: from 100ms to 5m is allowed"));
    }
    if !(1_000..=100_000_000).contains(message_max_bytes) {
        problems.push(format!("message_max_bytes {message_max_bytes}: from 1000 to 100000000 is allowed"));
    }
    problems.extend(tls_problems(options));
    if let Some(sasl) = &options.sasl {
        let missing =
            [("sasl.user", sasl.user.is_empty()), ("sasl.password", sasl.password.reveal().is_empty())];
        problems
            .extend(missing.iter().filter(|(_, empty)| *empty).map(|(name, _)| format!("{name}: is empty")));
    }
    problems.extend(options.extra.iter().filter_map(|(name, value)| extra_problem(name, value.reveal())));
    problems
}

fn tls_problems(options: &KafkaOptions) -> Vec<String> {
    let Some(tls) = &options.tls else { return Vec::new() };
    let unreadable = |(name, path): (&str, &Option<PathBuf>)| {
        let path = path.as_ref()?;
        let error = File::open(path).err()?;
        Some(format!("{name} {}: cannot be read: {error}", path.display()))
    };
    let files = [("tls.ca", &tls.ca), ("tls.certificate", &tls.certificate), ("tls.key", &tls.key)];
    let mut problems: Vec<String> = files.into_iter().filter_map(unreadable).collect();
    if tls.certificate.is_some() != tls.key.is_some() {
        problems.push("tls.certificate and tls.key: set both or none".to_owned());
    }
    problems
}

fn extra_problem(name: &str, value: &str) -> Option<String> {
    if let Some((_, reason)) = RESERVED.iter().find(|(reserved, _)| *reserved == name) {
        return Some(format!("kafka.{name}: is not allowed: {reason}"));
    }
    // librdkafka knows its properties, and tells of one at a time. It quotes the value, which may be a secret.
    let error = ClientConfig::new().set(name, value).create_native_config().err()?;
    let shown = error.to_string();
    Some(format!("kafka.{name}: {}", if value.is_empty() { shown } else { shown.replace(value, "***") }))
}

fn is_address(text: &str) -> bool {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "9092"));
    !host.is_empty() && !host.contains([' ', '/']) && port.parse::<u16>().is_ok_and(|port| port > 0)
}
