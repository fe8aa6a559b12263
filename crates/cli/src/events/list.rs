//! `posthaste events list`.

use clap::Args;
use posthaste::{EventFilter, EventSummary, Sort, StatusWord, Timestamp};
use posthaste_server::cursor::Listing;

use super::{desk, status};
use crate::{
    End,
    desk::Desk,
    paging::{self, tell_next},
    screen::{Cell, Column, Table, ago, json_line, parse_time, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste events list --database sqlite://shop.db
  posthaste events list --config relay.yaml --type order.placed --since 2h
  posthaste events list --config relay.yaml --subscription mail --status dead
  posthaste events list --config relay.yaml --key order-7 --oldest-first
  posthaste events list --config relay.yaml --all --json | jq -r .id

Status: pending, processing, failed (waits for a retry), delivered, dead,
delayed (not due yet), skipped (the filter or the start excludes it).";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// As this subscription sees them
    #[arg(long, value_name = "NAME")]
    subscription: Option<String>,
    /// Only those with this status in the subscription
    #[arg(long, value_name = "STATUS", value_parser = status::parse_word, requires = "subscription")]
    status: Option<StatusWord>,
    /// Only of this type
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only of this topic
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only of this key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Only of aggregates of this type
    #[arg(long, value_name = "TYPE")]
    aggregate_type: Option<String>,
    /// Only of aggregates with this id
    #[arg(long, value_name = "ID")]
    aggregate_id: Option<String>,
    /// Only of this tenant
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
    /// Only what was written at this time or later: a time in UTC, or how long ago, such as 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only what was written before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
    /// In the order of the log, as the events of one key are best read
    #[arg(long, conflicts_with = "status")]
    oldest_first: bool,
    #[command(flatten)]
    page: paging::Options,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let filter = options.filter();
    let desk = options.desk.open().await?;
    desk.check_if_named(filter.subscription.as_ref()).await?;
    let now = desk.status().await?.now;
    let mut shown = 0;
    let ask = async |at: paging::Ask| {
        desk.admin().list(&EventFilter { cursor: at.cursor, limit: at.limit, ..filter.clone() }).await
    };
    let show = |events: Vec<EventSummary>| {
        let text = if desk.json { lines(&events)? } else { table(&desk, &events, shown == 0, now) };
        shown += events.len();
        Ok(print(&text)?)
    };
    let next = options.page.walk(Listing::Events, ask, show).await?;
    if shown == 0 && !desk.json {
        print(&empty(&desk, &filter))?;
    }
    tell_next(&desk, next.as_ref());
    Ok(End::Fine)
}

impl Options {
    fn filter(&self) -> EventFilter {
        EventFilter {
            subscription: self.subscription.clone(),
            status: self.status,
            event_type: self.event_type.clone(),
            topic: self.topic.clone(),
            key: self.key.clone(),
            aggregate_type: self.aggregate_type.clone(),
            aggregate_id: self.aggregate_id.clone(),
            tenant_id: self.tenant.clone(),
            created_after: self.since,
            created_before: self.until,
            sort: if self.oldest_first { Sort::OldestFirst } else { Sort::NewestFirst },
            ..EventFilter::default()
        }
    }
}

fn lines(events: &[EventSummary]) -> anyhow::Result<String> {
    events.iter().map(json_line).collect()
}

fn table(desk: &Desk, events: &[EventSummary], is_first: bool, now: Timestamp) -> String {
    let columns = [
        Column::text("id"),
        Column::flexible("type", 8),
        Column::flexible("key", 6),
        Column::text("written"),
        Column::flexible("status", 9),
    ];
    let table = Table::new(&columns);
    let mut table = if is_first { table } else { table.without_title() };
    for event in events {
        table.row([
            Cell::new(event.id.to_string()),
            Cell::new(&event.event_type),
            Cell::maybe(event.key.as_ref()),
            Cell::new(ago(event.created_at, now)).faint(),
            status::cell(&event.statuses),
        ]);
    }
    table.render(desk.look, desk.columns)
}

fn empty(desk: &Desk, filter: &EventFilter) -> String {
    let any = EventFilter { sort: filter.sort, ..EventFilter::default() };
    if *filter != any {
        return "No event fits. Leave a filter out, or write another.\n".to_owned();
    }
    let command = desk.database.command("publish --type user.created --key 42 --payload '{}'");
    format!("No events yet. Publish one:\n  {command}\n")
}
