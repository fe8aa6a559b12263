//! Where a relay delivers to, as it is written on the command line.

use posthaste_config::{DEFAULT_SOURCE, Destination};
use posthaste_kafka::KafkaOptions;

/// Understands what [`Destination`] shows of itself.
pub(super) fn parse(text: &str) -> Result<Destination, String> {
    let source = DEFAULT_SOURCE.to_owned();
    match text.split_once(':') {
        None if text == "stdout" => Ok(Destination::Stdout { source }),
        Some(("file", "")) => Err("the path is missing; write file:events.jsonl".to_owned()),
        Some(("file", path)) => Ok(Destination::File { path: path.into(), sync: true, source }),
        Some(("kafka", rest)) => parse_kafka(rest),
        _ => Err("no such sink; write stdout, file:PATH or kafka:BROKERS/TOPIC".to_owned()),
    }
}

/// Some brokers and a topic, with everything else as usual. Who needs more writes a file.
fn parse_kafka(text: &str) -> Result<Destination, String> {
    const FORM: &str =
        "write kafka:BROKERS/TOPIC, such as kafka:localhost:9092/orders or kafka:a:9092,b:9092/{topic}";
    let (brokers, topic) = text.rsplit_once('/').ok_or(FORM)?;
    let topic = topic.parse().map_err(|error| format!("{error}; {FORM}"))?;
    let options = KafkaOptions { topic, ..KafkaOptions::new(brokers) };
    options.validate().map_err(|error| format!("{error}; {FORM}"))?;
    Ok(Destination::Kafka(Box::new(options)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_says_what_to_write_instead() {
        for good in [
            "stdout",
            "file:events.jsonl",
            "file:/tmp/a:b",
            "kafka:localhost:9092/orders",
            "kafka:a:1,b:2/shop.{topic}",
        ] {
            assert_eq!(parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "",
            "nats://localhost",
            "stdout:",
            "file:",
            "events.jsonl",
            "kafka:",
            "kafka:a:9092/",
            "kafka://localhost",
            "kafka:a:9092",
        ] {
            assert!(parse(bad).unwrap_err().contains("write "), "{bad}");
        }
    }
}
