//! The program between PostgreSQL and Kafka.

use std::{collections::BTreeMap, time::Duration};

use posthaste_services::{KAFKA_SASL_PASSWORD, KAFKA_SASL_USER, kafka, kafka_sasl};
use rdkafka::{
    ClientConfig, Message,
    admin::{AdminClient, AdminOptions, NewTopic, TopicReplication},
    client::DefaultClientContext,
    consumer::{BaseConsumer, Consumer},
};

use crate::{fixture::wait_until, proxy::Proxy, server::Server};

fn to_kafka(server: &Server, brokers: &str, topic: &str) -> String {
    format!(
        "database: {{ url: '{}' }}
relay: {{ lease: 3s, move_interval: 100ms }}
subscriptions:
  - name: orders
    sink: {{ kafka: {{ brokers: '{brokers}', topic: '{topic}' }} }}
",
        server.url()
    )
}

/// Makes a topic that nobody else has, with three partitions.
pub(crate) fn new_topic() -> String {
    let name = format!("posthaste-cli-{:016x}", fastrand::u64(..));
    let mut client = ClientConfig::new();
    let admin: AdminClient<DefaultClientContext> = client.set("bootstrap.servers", kafka()).create().unwrap();
    let topic = NewTopic::new(&name, 3, TopicReplication::Fixed(1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let made = runtime.block_on(admin.create_topics([&topic], &AdminOptions::new())).unwrap();
    assert!(made.iter().all(Result::is_ok), "{made:?}");
    name
}

/// The keys and values of a topic's records, in each partition's order; waits until there are so many.
pub(crate) fn records(topic: &str, count: usize) -> Vec<(String, serde_json::Value)> {
    let mut client = ClientConfig::new();
    client.set("bootstrap.servers", kafka()).set("group.id", topic).set("auto.offset.reset", "earliest");
    let consumer: BaseConsumer = client.create().unwrap();
    consumer.subscribe(&[topic]).unwrap();
    let mut found = Vec::new();
    wait_until("the records are there", || {
        while let Some(message) = consumer.poll(Duration::from_millis(200)) {
            let message = message.unwrap();
            let key = String::from_utf8(message.key().unwrap().to_vec()).unwrap();
            found.push((key, serde_json::from_slice(message.payload().unwrap()).unwrap()));
        }
        found.len() >= count
    });
    found
}

#[test]
fn events_arrive_in_kafka_once_and_in_order() {
    let server = Server::migrated();
    let topic = new_topic();
    server.publish(1_000, 50);
    server.configure("relay.yaml", &to_kafka(&server, &kafka(), &topic));
    let ran = server.run(&["relay", "--config", "relay.yaml", "--once"]).succeeded();

    let records = records(&topic, 1_000);
    assert_eq!(records.len(), 1_000, "{}", ran.err);
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    for (key, value) in &records {
        let number = value["n"].as_i64().unwrap();
        let before = last.insert(key, number);
        assert!(before.is_none_or(|before| before < number), "{key}: {number} came after {before:?}");
    }
    assert!(
        ran.err.contains(&format!("serving subscription=\"orders\" sink=kafka:{}/{topic}", kafka())),
        "{}",
        ran.err
    );
}

#[test]
fn the_command_line_knows_kafka_too() {
    let server = Server::migrated();
    let topic = new_topic();
    server.publish(3, 1);
    let sink = format!("kafka:{}/{topic}", kafka());
    server.run(&["relay", "--database", server.url(), "--sink", &sink, "--once"]).succeeded();

    assert_eq!(records(&topic, 3).len(), 3);
}

#[test]
#[cfg(unix)]
fn a_broker_that_is_away_is_waited_for_and_stops_nobody_else() {
    let server = Server::migrated();
    let topic = new_topic();
    let mut door = Proxy::shut(kafka());
    let file = "  - { name: archive, sink: { file: { path: archive.jsonl } } }\n";
    server.configure("relay.yaml", &(to_kafka(&server, &door.address().to_string(), &topic) + file));
    server.publish(100, 10);
    let mut relay = server.start_configured("relay.yaml");
    let log = || server.log("relay.yaml");
    wait_until("it says so", || {
        log().contains("the destination does not answer; its events wait subscription=\"orders\"")
    });
    wait_until("the other one has everything", || server.lines("archive.jsonl").len() == 100);
    let status = server.status();
    let orders =
        status["subscriptions"].as_array().unwrap().iter().find(|found| found["name"] == "orders").unwrap();
    assert_eq!((&orders["pending"], &orders["failed"], &orders["dead"]), (&100.into(), &0.into(), &0.into()));

    door.open();
    assert_eq!(records(&topic, 100).len(), 100);
    wait_until("it says so again", || log().contains("the destination answers"));
    relay.signal("TERM");
    assert_eq!(relay.wait(), Some(0), "{}", log());
}

/// A relay that says who it is, with this password.
fn with_password(server: &Server, topic: &str, password: &str) -> String {
    let sasl = format!("sasl: {{ mechanism: SCRAM-SHA-512, user: {KAFKA_SASL_USER}, password: {password} }}");
    to_kafka(server, &kafka_sasl(), topic).replace("topic:", &format!("{sasl}, topic:"))
}

#[test]
#[cfg(unix)]
fn a_wrong_password_is_told_and_not_shown_and_the_right_one_works() {
    let server = Server::migrated();
    let topic = new_topic();
    server.publish(10, 2);
    server.configure("wrong.yaml", &with_password(&server, &topic, "hunter2"));
    let mut relay = server.start_configured("wrong.yaml");
    wait_until("it says so", || server.log("wrong.yaml").contains("look at the settings sasl and tls"));
    relay.signal("TERM");
    assert_eq!(relay.wait(), Some(0));
    assert!(!server.log("wrong.yaml").contains("hunter2"), "{}", server.log("wrong.yaml"));

    server.configure("right.yaml", &with_password(&server, &topic, KAFKA_SASL_PASSWORD));
    server.run(&["relay", "--config", "right.yaml", "--once"]).succeeded();
    assert_eq!(records(&topic, 10).len(), 10);
}
