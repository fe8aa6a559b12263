//! `posthaste dlq list`.

use clap::Args;
use posthaste::{DeadFilter, DeadLetter, Timestamp};
use posthaste_server::cursor::Listing;

use super::{none, selection};
use crate::{
    End,
    desk::{self, Desk},
    paging::{self, tell_next},
    screen::{Cell, Column, Table, ago, json_line, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste dlq list --database sqlite://shop.db
  posthaste dlq list --config relay.yaml --subscription mail --since 1d
  posthaste dlq list --config relay.yaml --error 'connection refused' --all --json
  posthaste dlq list --config relay.yaml --resolved";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    #[command(flatten)]
    selection: selection::Options,
    /// Also those that were replayed, edited or discarded
    #[arg(long)]
    resolved: bool,
    #[command(flatten)]
    page: paging::Options,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let filter = DeadFilter { resolved: options.resolved, ..options.selection.filter() };
    let desk = options.desk.open().await?;
    let now = desk.status().await?.now;
    let mut shown = 0;
    let ask = async |at: paging::Ask| {
        desk.admin().dead(&DeadFilter { cursor: at.cursor, limit: at.limit, ..filter.clone() }).await
    };
    let show = |letters: Vec<DeadLetter>| {
        let lines = || letters.iter().map(json_line).collect::<anyhow::Result<String>>();
        let text = if desk.json { lines()? } else { table(&desk, &letters, shown == 0, now) };
        shown += letters.len();
        Ok(print(&text)?)
    };
    let next = options.page.walk(Listing::DeadLetters, ask, show).await?;
    if shown == 0 && !desk.json {
        // It may be of a subscription that was dropped; else the name is wrong.
        desk.check_if_named(filter.subscription.as_ref()).await?;
        print(none(filter != DeadFilter::default()))?;
    }
    tell_next(&desk, next.as_ref());
    Ok(End::Fine)
}

fn table(desk: &Desk, letters: &[DeadLetter], is_first: bool, now: Timestamp) -> String {
    let columns = [
        Column::number("id"),
        Column::flexible("subscription", 8),
        Column::flexible("type", 8),
        Column::flexible("key", 6),
        Column::text("died"),
        Column::number("tries"),
        Column::flexible("error", 12),
    ];
    let table = Table::new(&columns);
    let mut table = if is_first { table } else { table.without_title() };
    for letter in letters {
        let error = match &letter.resolution {
            Some(resolution) => Cell::new(format!("{resolution}; {}", letter.error)).faint(),
            None => Cell::new(&letter.error),
        };
        table.row([
            Cell::new(letter.dead_id.to_string()),
            Cell::new(&letter.subscription),
            Cell::new(&letter.event_type),
            Cell::maybe(letter.key.as_ref()),
            Cell::new(ago(letter.moved_at, now)).faint(),
            Cell::new(letter.attempts.to_string()),
            error,
        ]);
    }
    table.render(desk.look, desk.columns)
}
