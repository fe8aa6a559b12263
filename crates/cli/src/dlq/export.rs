//! `posthaste dlq export`: dead letters as JSON lines, for keeping or for programs.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::PathBuf,
};

use anyhow::Context;
use clap::Args;
use posthaste::{DeadFilter, DeadLetter};
use posthaste_server::cursor::Listing;

use super::selection;
use crate::{
    End, desk, paging,
    screen::{Progress, counted, grouped, json_line, print, remark},
};

const EXAMPLES: &str = "\
Examples:
  posthaste dlq export --database sqlite://shop.db > dead.jsonl
  posthaste dlq export --config relay.yaml --subscription mail --output dead.jsonl
  posthaste dlq export --config relay.yaml | jq -r '[.dead_id, .error] | @tsv'

One JSON object a line, oldest first, with payload and headers. Nothing changes.";

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
    /// Where to write them, instead of standard output; a file that is there is not overwritten
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let filter = DeadFilter { resolved: options.resolved, ..options.selection.filter() };
    let desk = options.desk.open().await?;
    let create = |path: &PathBuf| {
        File::create_new(path)
            .with_context(|| format!("cannot create {}", path.display()))
            .map(BufWriter::new)
    };
    let mut file = options.output.as_ref().map(create).transpose()?;
    let mut progress = Progress::new("exporting");
    let mut count = 0_u64;
    let ask = async |at: paging::Ask| {
        desk.admin().dead(&DeadFilter { cursor: at.cursor, limit: at.limit, ..filter.clone() }).await
    };
    let write = |letters: Vec<DeadLetter>| {
        let text: String = letters.iter().map(json_line).collect::<anyhow::Result<_>>()?;
        count += letters.len() as u64;
        match &mut file {
            Some(file) => {
                progress.show(&grouped(count));
                Ok(file.write_all(text.as_bytes())?)
            }
            None => Ok(print(&text)?),
        }
    };
    paging::Options::whole().walk(Listing::DeadLetters, ask, write).await?;
    if let Some(mut file) = file {
        file.flush().context("cannot write the file")?;
        file.get_ref().sync_all().context("cannot write the file")?;
    }
    drop(progress);
    if count == 0 {
        desk.check_if_named(filter.subscription.as_ref()).await?;
    }
    let place = options.output.map_or(String::new(), |path| format!(" to {}", path.display()));
    remark(&format!("exported {}{place}\n", counted(count, "dead letter")));
    Ok(End::Fine)
}
