//! `posthaste publish`: one event from flags, or many from JSON lines, in a transaction that has nothing else in it.
//!
//! A program publishes in its own transaction, beside its data; this is for people, scripts and imports.

mod event;
mod input;
mod write;

use std::{
    fs::File,
    io::{self, BufRead, BufReader, IsTerminal},
    path::PathBuf,
};

use anyhow::Context;
use clap::Args;
use posthaste::{Event, EventRules, Published};
use serde_json::json;

pub(crate) use self::event::parse_header;
use self::{
    event::Flags,
    input::{Input, Problems},
    write::Writer,
};
use crate::{
    End, desk,
    desk::Desk,
    exit::Coded,
    screen::{counted, json_line, print, remark},
};

const EXAMPLES: &str = "\
Examples:
  posthaste publish --type user.created --key 42 --payload '{\"name\":\"Ada\"}' \\
      --database sqlite://shop.db
  posthaste publish --type order.placed --aggregate order:7 --payload-file order.json \\
      --delay 10m --config relay.yaml
  posthaste publish --config relay.yaml --dry-run < events.jsonl
  posthaste publish --config relay.yaml --batch 500 < events.jsonl

Without --type events are read from standard input, or from --input FILE: one
JSON object a line, with event_type and payload, and as needed topic, key,
aggregate_type, aggregate_id, version, tenant_id, headers, correlation_id,
idempotency_key, deliver_after, occurred_at, event_version, id, retry. A payload
of another content_type than application/json is a text:

  {\"event_type\":\"user.created\",\"key\":\"42\",\"payload\":{\"name\":\"Ada\"}}

All lines are checked before the first is written, and all are written in one
transaction: everything or nothing, for up to 100,000 lines
or 256 MiB. With --batch N
every N lines are a transaction of their own, as they come; a bad line ends it,
and it is said up to which line everything is published.

Answers the id of each event, a line each. An event whose topic and
idempotency_key were published before is not written again: its id is the
first one's. Wrong input exits with 2.";

/// More than this in one transaction would be kept in memory, and would keep other writers waiting.
const MOST: usize = 100_000;

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    #[command(flatten)]
    flags: Flags,
    /// A file with JSON lines, instead of standard input
    #[arg(long, short, value_name = "FILE", conflicts_with = "event_type")]
    input: Option<PathBuf>,
    /// Write every N lines in a transaction of their own, as they come
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with = "event_type")]
    batch: Option<u32>,
    /// Only check: nothing is written
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let Options { desk, flags, input, batch, dry_run } = options;
    let mut source = match flags.is_given() {
        true => None,
        false => Some(open(input)?),
    };
    let flags = if source.is_none() { Some(flags.event()?) } else { None };
    let desk = desk.open().await?;
    let rules = rules(&desk);
    let mut publishing = Publishing::new(&desk, dry_run);
    match (&mut source, batch) {
        (None, _) => {
            let event = flags.context("there is an event")?;
            publishing.write(vec![event::build(event, &rules).map_err(Coded::not_understood)?]).await?;
        }
        (Some(source), None) => {
            let mut input = Input::new(source, rules);
            publishing.write(input.read_all(MOST)?).await?;
        }
        (Some(source), Some(batch)) => publishing.write_batches(Input::new(source, rules), batch).await?,
    }
    publishing.tell();
    Ok(End::Fine)
}

fn rules(desk: &Desk) -> EventRules {
    let usual = EventRules::default();
    EventRules { payload_limit: desk.database.payload_limit.unwrap_or(usual.payload_limit), ..usual }
}

fn open(file: Option<PathBuf>) -> anyhow::Result<Box<dyn BufRead>> {
    if let Some(path) = file {
        let file = File::open(&path).with_context(|| format!("cannot read {}", path.display()))?;
        return Ok(Box::new(BufReader::new(file)));
    }
    if io::stdin().is_terminal() {
        let text =
            "what is to be published? write --type and --payload, or send JSON lines to standard input";
        return Err(Coded::not_understood(text));
    }
    Ok(Box::new(io::stdin().lock()))
}

/// What was published so far.
struct Publishing<'d> {
    desk: &'d Desk,
    writer: Option<Writer>,
    dry_run: bool,
    events: u64,
    duplicates: u64,
}

impl<'d> Publishing<'d> {
    fn new(desk: &'d Desk, dry_run: bool) -> Self {
        Self { desk, writer: None, dry_run, events: 0, duplicates: 0 }
    }

    /// Writes events in one transaction, and answers their ids once it is committed.
    async fn write(&mut self, events: Vec<(u64, Event)>) -> anyhow::Result<()> {
        self.events += events.len() as u64;
        if self.dry_run || events.is_empty() {
            return Ok(());
        }
        let (lines, events): (Vec<u64>, Vec<Event>) = events.into_iter().unzip();
        if self.writer.is_none() {
            self.writer = Some(Writer::open(self.desk).await?);
        }
        let writer = self.writer.as_ref().context("the writer was opened")?;
        let published = writer.write(&self.desk.outbox, events).await?;
        self.duplicates += published.iter().filter(|one| one.duplicate).count() as u64;
        let text: anyhow::Result<String> =
            lines.iter().zip(&published).map(|(line, one)| self.line(*line, one)).collect();
        Ok(print(&text?)?)
    }

    /// Writes as lines come. What is wrong ends it, and says what is done.
    async fn write_batches<R: BufRead>(&mut self, mut input: Input<R>, batch: u32) -> anyhow::Result<()> {
        let size = usize::try_from(batch).unwrap_or(usize::MAX);
        loop {
            let done = input.lines();
            let events = match input.read(size) {
                Ok(events) => events,
                Err(problems) => return Err(self.stopped(&problems, done)),
            };
            let written = self.write(events).await;
            written.with_context(|| format!("lines up to {done} are published, and none behind it"))?;
            if input.is_at_end() {
                return Ok(());
            }
        }
    }

    fn stopped(&self, problems: &Problems, done: u64) -> anyhow::Error {
        let published = if self.dry_run { "checked" } else { "published" };
        Coded::not_understood(format!("{problems}\nlines up to {done} are {published}, and none behind it"))
    }

    fn line(&self, line: u64, published: &Published) -> anyhow::Result<String> {
        if !self.desk.json {
            return Ok(format!("{}\n", published.id));
        }
        json_line(&json!({
            "line": line,
            "id": published.id,
            "position": published.spot.map(|spot| spot.position.0),
            "version": published.version,
            "duplicate": published.duplicate,
        }))
    }

    /// Says how it went, beside the answer.
    fn tell(&self) {
        let events = counted(self.events, "event");
        let text = match (self.dry_run, self.duplicates) {
            (true, _) => format!("{events} would be published; nothing was written\n"),
            (false, 0) => format!("published {events}\n"),
            (false, known) => {
                format!("published {events}; {known} of them had been before, and were not written again\n")
            }
        };
        remark(&text);
    }
}
