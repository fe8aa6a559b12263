//! Kafka: the sink as it is measured, and Kafka's own producer benchmark beside it.

use std::process::Stdio;

use posthaste::{Error, ErrorKind, Result};
use posthaste_envelope::Format;
use posthaste_kafka::KafkaOptions;
use rdkafka::{
    ClientConfig,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
};
use tokio::process::Command;

use super::{Plan, shop::failed};

const TOPIC: &str = "posthaste-bench";
const PARTITIONS: i32 = 8;

pub(crate) fn options(brokers: &str, format: Format) -> Result<KafkaOptions> {
    let mut options = KafkaOptions::new(brokers);
    options.topic = TOPIC.parse()?;
    options.format = format;
    Ok(options)
}

/// Makes the topic, unless it is there.
pub(crate) async fn create_topic(brokers: &str) -> Result<()> {
    let admin: AdminClient<DefaultClientContext> =
        ClientConfig::new().set("bootstrap.servers", brokers).create().map_err(failed("reach Kafka"))?;
    let topic = NewTopic::new(TOPIC, PARTITIONS, TopicReplication::Fixed(1));
    // That it exists already is fine; anything else shows at the first send.
    _ = admin.create_topics(&[topic], &AdminOptions::new()).await.map_err(failed("create the topic"))?;
    Ok(())
}

/// Runs `ProducerPerformance` of the jars for as many records. Answers in seconds, by the rate it reports.
pub(crate) async fn producer_benchmark(plan: &Plan) -> Result<f64> {
    let (Some(brokers), Some(jars)) = (&plan.brokers, &plan.kafka_jars) else { return Ok(f64::NAN) };
    let output = Command::new("java")
        .args(["-Xmx512m", "-cp", &format!("{}/*", jars.display())])
        .args(["org.apache.kafka.tools.ProducerPerformance", "--topic", TOPIC, "--throughput", "-1"])
        .args(["--num-records", &plan.events.to_string(), "--record-size", "200", "--producer-props"])
        .args([&format!("bootstrap.servers={brokers}"), "acks=all"])
        .stderr(Stdio::null())
        .output()
        .await
        .map_err(failed("run Kafka's producer benchmark"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    // The last line: "1000000 records sent, 210000.0 records/sec (40.05 MB/sec), …"
    let rate = text.lines().rev().find_map(|line| {
        let before = line.split_once(" records/sec")?.0;
        before.rsplit_once(' ')?.1.parse::<f64>().ok()
    });
    match rate {
        Some(rate) => Ok(plan.events as f64 / rate),
        None => {
            Err(Error::new(ErrorKind::Unexpected, format!("Kafka's producer benchmark says no rate: {text}")))
        }
    }
}
