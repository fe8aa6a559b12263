//! An event as people and scripts write it: flags, or a JSON object.

use std::{collections::BTreeMap, fs, path::PathBuf, time::Duration};

use anyhow::Context;
use clap::Args;
use posthaste::{
    Clock, Event, EventBuilder, EventId, EventRules, Payload, RetryOverrides, Stamp, SystemClock, Timestamp,
};
use posthaste_server::time::parse;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::exit::Coded;

/// What an event is unless said otherwise.
const JSON: &str = "application/json";

/// An event that is to be published, as a line of JSON has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewEvent {
    event_type: String,
    payload: Box<RawValue>,
    content_type: Option<String>,
    topic: Option<String>,
    key: Option<String>,
    aggregate_type: Option<String>,
    aggregate_id: Option<String>,
    version: Option<i64>,
    tenant_id: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    correlation_id: Option<String>,
    idempotency_key: Option<String>,
    #[serde(default, deserialize_with = "time")]
    deliver_after: Option<Timestamp>,
    #[serde(default, deserialize_with = "time")]
    occurred_at: Option<Timestamp>,
    event_version: Option<String>,
    id: Option<EventId>,
    #[serde(default)]
    retry: RetryOverrides,
    #[serde(skip)]
    delay: Option<Duration>,
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    parse_point(&text).map(Some).map_err(serde::de::Error::custom)
}

fn parse_point(text: &str) -> Result<Timestamp, String> {
    parse(text).ok_or_else(|| format!("{text:?} is no time; write one in UTC such as 2026-03-01T12:00:00Z"))
}

/// An event from the command line.
#[derive(Args)]
#[group(skip)]
pub(super) struct Flags {
    /// The type of the event
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// The payload: JSON, unless --content-type says otherwise
    #[arg(long, value_name = "TEXT", requires = "event_type", conflicts_with = "payload_file")]
    payload: Option<String>,
    /// A file with the payload
    #[arg(long, value_name = "FILE", requires = "event_type")]
    payload_file: Option<PathBuf>,
    /// What the payload is [default: application/json]
    #[arg(long, value_name = "TYPE", requires = "event_type")]
    content_type: Option<String>,
    /// The topic [default: the type]
    #[arg(long, value_name = "TOPIC", requires = "event_type")]
    topic: Option<String>,
    /// The key that orders it [default: the id of the aggregate]
    #[arg(long, value_name = "KEY", requires = "event_type")]
    key: Option<String>,
    /// What it happened to, as TYPE:ID
    #[arg(long, value_name = "TYPE:ID", requires = "event_type", value_parser = parse_aggregate)]
    aggregate: Option<(String, String)>,
    /// The tenant
    #[arg(long, value_name = "ID", requires = "event_type")]
    tenant: Option<String>,
    /// A header, as NAME=VALUE; can be repeated
    #[arg(long, value_name = "NAME=VALUE", requires = "event_type", value_parser = parse_header)]
    header: Vec<(String, String)>,
    /// What it belongs to
    #[arg(long, value_name = "ID", requires = "event_type")]
    correlation_id: Option<String>,
    /// A second event of the same topic with this key is not written
    #[arg(long, value_name = "KEY", requires = "event_type")]
    idempotency_key: Option<String>,
    /// Not to be delivered before this time, in UTC
    #[arg(long, value_name = "TIME", requires = "event_type", value_parser = parse_point)]
    deliver_after: Option<Timestamp>,
    /// Not to be delivered before this long from now, such as 10m
    #[arg(long, value_name = "TIME", requires = "event_type", value_parser = humantime::parse_duration, conflicts_with = "deliver_after")]
    delay: Option<Duration>,
    /// An id of your own, as UUID or ULID
    #[arg(long, value_name = "ID", requires = "event_type")]
    id: Option<EventId>,
}

impl Flags {
    pub(super) fn is_given(&self) -> bool {
        self.event_type.is_some()
    }

    /// The event that is meant.
    pub(super) fn event(self) -> anyhow::Result<NewEvent> {
        let is_json = self.content_type.as_deref().is_none_or(|kind| kind == JSON);
        let text = match (self.payload, self.payload_file) {
            (Some(text), _) => text,
            (None, Some(file)) => {
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?
            }
            (None, None) => {
                let text = "no payload: write --payload <TEXT> or --payload-file <FILE>; --payload '{}' is an empty one";
                return Err(Coded::not_understood(text));
            }
        };
        let text = if is_json { text.trim().to_owned() } else { serde_json::to_string(&text)? };
        let payload = RawValue::from_string(text).map_err(|error| {
            Coded::not_understood(format!(
                "the payload is not JSON: {error}; write --content-type for anything else"
            ))
        })?;
        let (aggregate_type, aggregate_id) = self.aggregate.unzip();
        Ok(NewEvent {
            event_type: self.event_type.unwrap_or_default(),
            payload,
            content_type: self.content_type,
            topic: self.topic,
            key: self.key,
            aggregate_type,
            aggregate_id,
            version: None,
            tenant_id: self.tenant,
            headers: self.header.into_iter().collect(),
            correlation_id: self.correlation_id,
            idempotency_key: self.idempotency_key,
            deliver_after: self.deliver_after,
            occurred_at: None,
            event_version: None,
            id: self.id,
            retry: RetryOverrides::default(),
            delay: self.delay,
        })
    }
}

/// Reads a header from the command line.
pub(crate) fn parse_header(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    pair.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or_else(|| "write NAME=VALUE".to_owned())
}

fn parse_aggregate(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once(':').filter(|(kind, id)| !kind.is_empty() && !id.is_empty());
    pair.map(|(kind, id)| (kind.to_owned(), id.to_owned()))
        .ok_or_else(|| "write TYPE:ID, such as order:7".to_owned())
}

/// Checks an event by the rules of the outbox, and finishes it. The number is that of its line.
pub(super) fn build(new: NewEvent, rules: &EventRules) -> Result<(u64, Event), String> {
    let stamp = Stamp { id: EventId::from(Uuid::now_v7()), now: SystemClock.now() };
    let builder = builder(new)?;
    builder.build(rules, stamp).map(|event| (1, event)).map_err(|error| {
        // Which event it is, the line says; what to call is for programs.
        let text = error.to_string();
        text.split_once("cannot be published: ").map_or(text.clone(), |(_, why)| why.to_owned())
    })
}

fn builder(new: NewEvent) -> Result<EventBuilder, String> {
    let payload = match new.content_type {
        Some(content_type) if content_type != JSON => {
            let text: String = serde_json::from_str(new.payload.get()).map_err(|_| {
                format!("the payload of content_type {content_type} is no text; write it as one")
            })?;
            Payload::Bytes { bytes: text.into_bytes(), content_type: content_type.into() }
        }
        _ => Payload::Json(new.payload.get().to_owned()),
    };
    let mut event = Event::of(new.event_type).payload(payload).retry(new.retry);
    event = match (new.aggregate_type, new.aggregate_id) {
        (Some(kind), Some(id)) => event.aggregate(kind, id),
        (None, None) => event,
        _ => return Err("aggregate_type and aggregate_id are there together, or both are not".to_owned()),
    };
    event = new.topic.into_iter().fold(event, EventBuilder::topic);
    event = new.key.into_iter().fold(event, EventBuilder::key);
    event = new.version.into_iter().fold(event, EventBuilder::version);
    event = new.tenant_id.into_iter().fold(event, EventBuilder::tenant);
    event = new.correlation_id.into_iter().fold(event, EventBuilder::correlation);
    event = new.idempotency_key.into_iter().fold(event, EventBuilder::idempotency_key);
    event = new.deliver_after.into_iter().fold(event, EventBuilder::deliver_after);
    event = new.delay.into_iter().fold(event, EventBuilder::deliver_in);
    event = new.occurred_at.into_iter().fold(event, EventBuilder::occurred_at);
    event = new.event_version.into_iter().fold(event, EventBuilder::event_version);
    event = new.id.into_iter().fold(event, EventBuilder::id);
    Ok(new.headers.into_iter().fold(event, |event, (name, value)| event.header(name, value)))
}
