//! `posthaste audit`: what operators did.

use clap::Args;
use posthaste::{AuditEntry, AuditFilter, Timestamp};
use posthaste_server::cursor::Listing;

use crate::{
    End,
    desk::{self, Desk},
    exit::Coded,
    paging::{self, tell_next},
    screen::{Cell, Column, Table, grouped, json_line, moment, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste audit --database sqlite://shop.db
  posthaste audit --config relay.yaml --of ada --what reset
  posthaste audit --config relay.yaml --all --json > audit.jsonl

What: replayed, edited, discarded, paused, resumed, reset, dropped; and of
jobs started, cancelled, finished.";

const WORDS: [&str; 10] = [
    "replayed",
    "edited",
    "discarded",
    "paused",
    "resumed",
    "reset",
    "dropped",
    "started",
    "cancelled",
    "finished",
];

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Only what this operator did
    #[arg(long, value_name = "NAME")]
    of: Option<String>,
    /// Only such acts
    #[arg(long, value_name = "WHAT")]
    what: Option<String>,
    /// Only what concerned this subscription
    #[arg(long, value_name = "NAME")]
    subscription: Option<String>,
    #[command(flatten)]
    page: paging::Options,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    if let Some(what) = options.what.as_ref().filter(|what| !WORDS.contains(&what.as_str())) {
        let text = format!("--what {what:?} is nothing that operators do; allowed are {}", WORDS.join(", "));
        return Err(Coded::not_understood(text));
    }
    // A subscription may have been dropped since, so that any name is possible.
    let filter = AuditFilter {
        by: options.of,
        what: options.what,
        subscription: options.subscription,
        ..AuditFilter::default()
    };
    let desk = options.desk.open().await?;
    let now = desk.status().await?.now;
    let mut shown = 0;
    let ask = async |at: paging::Ask| {
        desk.admin().audit(&AuditFilter { cursor: at.cursor, limit: at.limit, ..filter.clone() }).await
    };
    let show = |entries: Vec<AuditEntry>| {
        let lines = || entries.iter().map(json_line).collect::<anyhow::Result<String>>();
        let text = if desk.json { lines()? } else { table(&desk, &entries, shown == 0, now) };
        shown += entries.len();
        Ok(print(&text)?)
    };
    let next = options.page.walk(Listing::Audit, ask, show).await?;
    if shown == 0 && !desk.json {
        print("No operator did anything of the kind.\n")?;
    }
    tell_next(&desk, next.as_ref());
    Ok(End::Fine)
}

fn table(desk: &Desk, entries: &[AuditEntry], is_first: bool, now: Timestamp) -> String {
    let columns = [
        Column::text("when"),
        Column::flexible("who", 6),
        Column::text("what"),
        Column::flexible("subscription", 8),
        Column::number("many"),
        Column::flexible("detail", 10),
    ];
    let table = Table::new(&columns);
    let mut table = if is_first { table } else { table.without_title() };
    for entry in entries {
        table.row([
            Cell::new(moment(entry.at, now)).faint(),
            Cell::new(&entry.by),
            Cell::new(&entry.what),
            Cell::maybe(entry.subscription.as_ref()),
            Cell::new(grouped(entry.concerned)),
            Cell::maybe(entry.detail.as_ref()),
        ]);
    }
    table.render(desk.look, desk.columns)
}
