//! `posthaste lanes`: who holds which lane, how far it is, and what is ahead of it.

use clap::Args;
use posthaste::LaneStatus;
use serde_json::json;

use crate::{
    End,
    desk::{self, Desk},
    exit::judged,
    screen::{Cell, Column, Table, age, counted, grouped, json_line, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste lanes --database sqlite://shop.db
  posthaste lanes mail --config relay.yaml
  posthaste lanes mail --config relay.yaml --behind
  posthaste lanes --config relay.yaml --json | jq 'select(.holder == null)'

Columns:
  lane     its number; all events of one key are in one lane
  holder   the live relay that delivers it, or nobody
  last     what was done last: taken, settled, given back, reset
  settled  the last position that is done with
  pending  events ahead of it
  oldest   how old the oldest of these is";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Only of this subscription
    #[arg(value_name = "SUBSCRIPTION")]
    subscription: Option<String>,
    /// Only lanes with something ahead of them
    #[arg(long)]
    behind: bool,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let desk = options.desk.open().await?;
    let names = match options.subscription {
        Some(name) => {
            desk.check_subscription(&name).await?;
            vec![name]
        }
        None => desk.status().await?.subscriptions.into_iter().map(|found| found.name).collect(),
    };
    if names.is_empty() && !desk.json {
        let command = desk.database.relay_command();
        print(&format!("No subscriptions yet. A relay makes its own when it starts:\n  {command}\n"))?;
    }
    for name in names {
        let mut lanes = desk.admin().lanes(&name).await.map_err(judged)?;
        let all = lanes.len();
        lanes.retain(|lane| !options.behind || lane.pending > 0);
        print(&if desk.json { lines(&name, &lanes)? } else { table(&desk, &name, &lanes, all) })?;
    }
    Ok(End::Fine)
}

fn lines(subscription: &str, lanes: &[LaneStatus]) -> anyhow::Result<String> {
    let line = |lane: &LaneStatus| {
        let mut value = json!(lane);
        value["subscription"] = subscription.into();
        json_line(&value)
    };
    lanes.iter().map(line).collect()
}

fn table(desk: &Desk, name: &str, lanes: &[LaneStatus], all: usize) -> String {
    let held = lanes.iter().filter(|lane| lane.holder.is_some()).count();
    let pending: u64 = lanes.iter().map(|lane| lane.pending).sum();
    let shown = if lanes.len() < all {
        format!("{} of {all} lanes", lanes.len())
    } else {
        counted(all as u64, "lane")
    };
    let title = format!("{}  {shown}, {held} held, {} pending", desk.look.strong(name), grouped(pending));
    let columns = [
        Column::number("lane"),
        Column::flexible("holder", 8),
        Column::text("last"),
        Column::number("settled"),
        Column::number("pending"),
        Column::number("oldest"),
    ];
    let mut table = Table::new(&columns);
    for lane in lanes {
        let about = if lane.pending_estimated { "~" } else { "" };
        let pending = Cell::new(format!("{about}{}", grouped(lane.pending)));
        table.row([
            Cell::new(lane.lane.0.to_string()),
            Cell::maybe(lane.holder.as_ref().map(|relay| relay.0.as_str())),
            lane.kind.map_or_else(
                || Cell::new("no line").bad(),
                |kind| Cell::new(kind.as_str().replace('_', " ")),
            ),
            Cell::new(lane.settled.0.to_string()),
            if lane.pending == 0 { pending.faint() } else { pending },
            Cell::maybe(lane.oldest_age_seconds.map(age)),
        ]);
    }
    let table = if lanes.is_empty() {
        "nothing is ahead of any lane\n".to_owned()
    } else {
        table.render(desk.look, desk.columns)
    };
    format!("{title}\n{table}\n")
}
