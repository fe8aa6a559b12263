//! `posthaste status`: how a log and its subscriptions stand, as a table or as JSON.

pub(crate) mod table;

use clap::Args;

use crate::{
    End, database,
    screen::{Look, columns, json_pretty, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste status --database sqlite://shop.db
  posthaste status --database sqlite://shop.db --json | jq .subscriptions
  posthaste status --config relay.yaml

Columns:
  pending    ahead of the subscription's cursor (also what its filter will skip)
  failed     waiting for a retry, or behind an event of the same key that does
  delayed    not due yet
  dead       given up, and waiting for a person
  delivered  delivered so far
  lanes      lanes that a live relay holds, of all lanes
  oldest     how old the oldest event is that is pending or failed";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    database: database::Options,
    /// Answer in JSON, for programs
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    let database = options.database.database()?;
    let status = database.status().await?;
    if options.json {
        print(&json_pretty(&status)?)?;
    } else {
        print(&table::render(&status, &database, Look::of_stdout(), columns()))?;
    }
    Ok(End::Fine)
}
