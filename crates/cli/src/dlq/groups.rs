//! `posthaste dlq groups`: what dead letters died of, the most frequent first.

use clap::Args;
use posthaste::{DeadGroup, Timestamp};

use super::{none, selection};
use crate::{
    End,
    database::quote,
    desk::{self, Desk},
    exit::judged,
    screen::{Cell, Column, Table, ago, grouped, json_line, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste dlq groups --database sqlite://shop.db
  posthaste dlq groups --config relay.yaml --subscription mail
  posthaste dlq groups --config relay.yaml --json | jq .count

At most the 100 largest groups are told. A group is what has the same
subscription, reason, type and first line of the error.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    #[command(flatten)]
    selection: selection::Options,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let filter = options.selection.filter();
    let desk = options.desk.open().await?;
    let groups = desk.admin().dead_groups(&filter).await.map_err(judged)?;
    let text = match groups.first() {
        _ if desk.json => groups.iter().map(json_line).collect::<anyhow::Result<String>>()?,
        None => {
            desk.check_if_named(filter.subscription.as_ref()).await?;
            none(filter != posthaste::DeadFilter::default()).to_owned()
        }
        Some(first) => {
            let now = desk.status().await?.now;
            format!("{}\n{}", table(&desk, &groups, now), hint(&desk, first))
        }
    };
    print(&text)?;
    Ok(End::Fine)
}

fn table(desk: &Desk, groups: &[DeadGroup], now: Timestamp) -> String {
    let columns = [
        Column::number("count"),
        Column::flexible("subscription", 8),
        Column::flexible("type", 8),
        Column::flexible("reason", 10),
        Column::text("last"),
        Column::flexible("error", 12),
    ];
    let mut table = Table::new(&columns);
    for group in groups {
        table.row([
            Cell::new(grouped(group.count)).bad(),
            Cell::new(&group.subscription),
            Cell::new(&group.event_type),
            Cell::new(group.reason.as_str()),
            Cell::new(ago(group.last_at, now)).faint(),
            Cell::new(&group.error),
        ]);
    }
    table.render(desk.look, desk.columns)
}

fn hint(desk: &Desk, group: &DeadGroup) -> String {
    let which = format!("--subscription {} --reason {}", quote(&group.subscription), group.reason);
    format!(
        "Look at some:      {}\nSend them again:   {}\n",
        desk.database.command(&format!("dlq list {which}")),
        desk.database.command(&format!("dlq replay {which} --dry-run"))
    )
}
