//! A sink that delivers to Apache Kafka.
//!
//! ```no_run
//! use posthaste_kafka::{KafkaOptions, KafkaSink};
//!
//! let options = KafkaOptions { topic: "shop.{aggregate_type}".parse()?, ..KafkaOptions::new("localhost:9092") };
//! let sink = KafkaSink::new(&options)?;
//! # drop(sink);
//! # Ok::<(), posthaste_core::Error>(())
//! ```
//!
//! An event of type `order.placed`, of aggregate `order` 42 with version 3 and the payload `{"total":5}`, is this record in
//! topic `shop.order`:
//!
//! ```text
//! key      42
//! value    {"total":5,"messageId":"0190163d-…","metadata":{"outbox_id":"0190163d-…","sequence_number":3}}
//! headers  event_type: order.placed   aggregate_id: 42
//! ```
//!
//! [`posthaste_envelope`] has the other formats, CloudEvents among them. The partition follows from the key as for Kafka's
//! own clients, so that all producers of a topic agree. The record's time is that of sending.
//!
//! **What "delivered" means.** All in-sync replicas have the record (`acks=all`); with `min.insync.replicas` of 2 or more in
//! the topic it survives the loss of a broker. A record that is only queued in the client, or on the wire, is never
//! "delivered". The producer is idempotent, so that the client's own retries double nothing and keep the order. An event
//! comes twice only if the answer to it got lost: the client was replaced or the relay died while it was on the wire.
//!
//! **What is never there.** An event behind one of its key that failed. That takes four things together:
//!
//! 1. The broker numbers what a producer writes to a partition, and refuses a record behind a gap.
//! 2. The client does not mend a gap (`enable.gapless.guarantee`): it fails as a whole, and is replaced. What it had queued
//!    is sent by the next one.
//! 3. Of a producer that the broker does not know in a partition it takes whatever comes first. So of each key only one
//!    record is under way there, until the first of them has been acknowledged.
//! 4. Partitions know nothing of each other. So records of one key that go to several topics go one after the other.
//!
//! **When time is over**, what is queued is taken back, and nothing leaves the client any more. A record that was on the wire
//! by then may be there or not: it is sent again, and if it had three seconds (or the whole `timeout`) the destination is down. Nobody can call it back; a broker that was
//! asleep may still write it later, a repeat. It is in order with what was on the wire before it.
//!
//! **Who is to blame.** A broker refuses a request as a whole, and does not always say for which record in it. So whoever
//! shared the request is sent once more, each alone, and only a record that is refused alone has failed. If none is, it was
//! the size of the batch: batches are made smaller, and a warning says which topic's `max.message.bytes` is below
//! [`message_max_bytes`](KafkaOptions::message_max_bytes).
//!
//! | what Kafka says | the fault |
//! |---|---|
//! | record too large, for the client or alone for the topic | permanent |
//! | record refused alone, as one without a key by a compacted topic | permanent |
//! | no right to write to the topic (remembered for 30 seconds); no name of a topic | permanent |
//! | unknown topic | as [`unknown_topic`](KafkaOptions::unknown_topic) says: unavailable, or permanent |
//! | no broker, no leader, not enough replicas, no answer in time | unavailable |
//! | wrong password, no certificate, no right to write idempotently | unavailable, and it names the setting |
//! | quota exceeded | throttled |
//! | the client failed for good | none: a new client sends what was on the wire once more, and a line in the log |
//! | the client's queue is full | none: the sink waits for room |
//! | anything else | transient |
//!
//! In an outage the client keeps trying for as long as a batch has time, 10 seconds at most, so that a broker that restarts
//! quickly is not even noticed. Then the subscription waits, and no attempt counts.
//!
//! **Memory.** At most 100,000 records and 64 MB are queued in the client, however many lanes deliver; beyond that the sink
//! waits, without blocking a thread. `kafka.queue.buffering.max.kbytes` and `.messages` change that.
//!
//! **What weakens a promise** cannot be set: [`extra`](KafkaOptions::extra) refuses `acks`, `enable.idempotence` and their
//! like, and says why. What is left to the cluster: `min.insync.replicas=1` with `unclean.leader.election.enable` may lose
//! what was acknowledged, and so may a topic that is deleted. Where a topic is deleted and made again while events for it are
//! on the wire, the broker has forgotten its numbers, and the third point above is void for that moment.

mod config;
mod fault;
mod options;
mod pairs;
mod partition;
mod producer;
mod producers;
mod receipts;
mod routes;
mod run;
mod sink;
mod tally;
mod topics;
mod wave;

pub use options::{Compression, KafkaOptions, Sasl, SaslMechanism, Secret, Tls, UnknownTopic};
pub use sink::KafkaSink;
