//! `posthaste events show`: one event, and all that happened to it.

use std::{collections::BTreeMap, fmt::Write};

use clap::Args;
use posthaste::{EventId, EventStatus, EventSummary, Timeline, TimelineItem, Timestamp};

use super::{desk, status};
use crate::{
    End,
    exit::{Coded, judged},
    screen::{Cell, Column, Look, Table, ago, counted, moment, pretty, stamp, tame},
};

const EXAMPLES: &str = "\
Examples:
  posthaste events show 0190163d-8694-739b-aea5-966c26f8ad91 --config relay.yaml
  posthaste events show 01J0B3V1MMEEDTX9CPDGKFHBCH --database sqlite://shop.db --json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Its id, as UUID or ULID
    #[arg(value_name = "ID")]
    id: String,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let id: EventId =
        options.id.parse().map_err(|error: posthaste::Error| Coded::not_understood(error.to_string()))?;
    let desk = options.desk.open().await?;
    let timeline = desk.admin().show(id).await.map_err(judged)?;
    let now = desk.status().await?.now;
    desk.answer(&timeline, &render(&timeline, now, desk.look, desk.columns))?;
    Ok(End::Fine)
}

fn render(timeline: &Timeline, now: Timestamp, look: Look, columns: usize) -> String {
    let event = &timeline.event;
    let mut text = format!("{}  {}\n", look.strong(tame(&event.event_type)), event.id);
    text.push_str(&facts(event, now, look));
    text.push_str(&body(&timeline.headers, &timeline.payload, look));
    _ = write!(text, "\n{}\n", look.faint("subscriptions"));
    if event.statuses.is_empty() {
        text.push_str("  none yet\n");
    }
    text.push_str(&statuses(&event.statuses, now, look, columns));
    _ = write!(text, "\n{}\n", look.faint("timeline"));
    text.push_str(&items(&timeline.items, now, look, columns));
    text
}

/// Headers and payload, as far as there are any.
pub(crate) fn body(headers: &BTreeMap<String, String>, payload: &str, look: Look) -> String {
    let mut text = String::new();
    if !headers.is_empty() {
        _ = write!(text, "\n{}\n", look.faint("headers"));
        for (name, value) in headers {
            _ = writeln!(text, "  {}: {}", tame(name), tame(value));
        }
    }
    _ = write!(text, "\n{}\n", look.faint("payload"));
    for line in pretty(payload).as_deref().unwrap_or(payload).lines() {
        _ = writeln!(text, "  {}", tame(line));
    }
    text
}

fn facts(event: &EventSummary, now: Timestamp, look: Look) -> String {
    let aggregate = event.aggregate_id.as_ref().map(|id| {
        let kind = event.aggregate_type.as_deref().unwrap_or("?");
        event
            .version
            .map_or_else(|| format!("{kind} {id}"), |version| format!("{kind} {id}, number {version}"))
    });
    let version = (event.event_version != "1.0.0").then(|| event.event_version.clone());
    let happened = (event.occurred_at.0.abs_diff(event.created_at.0) > 1_000_000)
        .then(|| moment(event.occurred_at, now));
    let facts = [
        ("topic", Some(event.topic.clone())),
        ("key", event.key.clone()),
        ("aggregate", aggregate),
        ("tenant", event.tenant_id.clone()),
        ("correlation", event.correlation_id.clone()),
        ("version", version),
        ("position", Some(format!("{} in lane {}", event.position.0, event.lane.0))),
        ("happened", happened),
        ("written", Some(moment(event.created_at, now))),
        ("due", event.deliver_after.map(|time| moment(time, now))),
    ];
    listed(&facts, look)
}

/// Names with their values, those that have one.
pub(crate) fn listed(facts: &[(&str, Option<String>)], look: Look) -> String {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, value) in facts {
        if let Some(value) = value {
            _ = writeln!(text, "  {}  {}", look.faint(format!("{name:<width$}")), tame(value));
        }
    }
    text
}

fn statuses(all: &[EventStatus], now: Timestamp, look: Look, columns: usize) -> String {
    let titles = [Column::text(""), Column::text(""), Column::text(""), Column::flexible("", 20)];
    let mut table = Table::new(&titles).without_title();
    for one in all {
        let mut more = Vec::new();
        if one.attempts > 0 {
            more.push(counted(one.attempts.into(), "attempt"));
        }
        more.extend(one.due_at.map(|due| format!("due {}", ago(due, now))));
        more.extend(one.blocked_by.map(|position| format!("waits for position {}", position.0)));
        more.extend(one.last_error.clone());
        let word = status::paint(Cell::new(one.status.as_str()), one.status);
        table.row([Cell::new(""), Cell::new(&one.subscription), word, Cell::new(more.join("; "))]);
    }
    table.render(look, columns)
}

fn items(items: &[TimelineItem], now: Timestamp, look: Look, columns: usize) -> String {
    let titles = [
        Column::text(""),
        Column::text(""),
        Column::text(""),
        Column::flexible("", 8),
        Column::text(""),
        Column::flexible("", 20),
    ];
    let mut table = Table::new(&titles).without_title();
    for item in items {
        let attempt = item.attempt.map(|number| format!("attempt {number}"));
        let by = item.by.as_ref().map(|by| format!("by {by}"));
        let more: Vec<String> = [attempt, item.detail.clone(), by].into_iter().flatten().collect();
        let what = Cell::new(&item.what);
        table.row([
            Cell::new(""),
            Cell::new(stamp(item.at)).faint(),
            Cell::new(ago(item.at, now)).faint(),
            Cell::new(item.subscription.as_deref().unwrap_or_default()),
            match item.what.as_str() {
                "delivered" => what.good(),
                "failed" => what.warning(),
                "dead" => what.bad(),
                _ => what,
            },
            Cell::new(more.join("; ")),
        ]);
    }
    table.render(look, columns)
}
