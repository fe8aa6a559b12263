//! `posthaste dlq`: dead letters, and what can be done about them.

mod edit;
mod editor;
mod export;
mod groups;
mod list;
mod resolve;
pub(crate) mod selection;
mod show;

use clap::{Args, Subcommand};
use posthaste::{DeadFilter, DeadLetter, ErrorKind, JobKind};

use crate::{End, desk::Desk, exit::judged};

const EXAMPLES: &str = "\
Examples:
  posthaste dlq groups --config relay.yaml
  posthaste dlq list --config relay.yaml --subscription mail
  posthaste dlq show 17 --config relay.yaml
  posthaste dlq replay 17 18 --config relay.yaml
  posthaste dlq replay --config relay.yaml --subscription mail --dry-run
  posthaste dlq edit 17 --config relay.yaml --payload '{\"order\":7}'
  posthaste dlq discard --config relay.yaml --reason poison_message
  posthaste dlq export --config relay.yaml > dead.jsonl";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Count dead letters by what they died of
    Groups(groups::Options),
    /// List dead letters, oldest first
    List(list::Options),
    /// Show one dead letter: why it died, payload, headers
    Show(show::Options),
    /// Send dead letters again, in their order
    #[command(after_help = resolve::REPLAY)]
    Replay(resolve::Options),
    /// Send one dead letter again with another payload, other headers or another topic
    Edit(edit::Options),
    /// Give dead letters up for good; a key that they hold goes on
    #[command(after_help = resolve::DISCARD)]
    Discard(resolve::Options),
    /// Write dead letters as JSON lines, with payload and headers
    Export(export::Options),
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    match options.action {
        Action::Groups(options) => groups::run(options).await,
        Action::List(options) => list::run(options).await,
        Action::Show(options) => show::run(options).await,
        Action::Replay(options) => resolve::run(options, JobKind::Replay).await,
        Action::Edit(options) => edit::run(options).await,
        Action::Discard(options) => resolve::run(options, JobKind::Discard).await,
        Action::Export(options) => export::run(options).await,
    }
}

/// The dead letter of this number, resolved or not.
async fn find(desk: &Desk, dead_id: i64) -> anyhow::Result<DeadLetter> {
    let filter = DeadFilter { dead_id: Some(dead_id), resolved: true, limit: 1, ..DeadFilter::default() };
    let found = desk.admin().dead(&filter).await.map_err(judged)?.items.into_iter().next();
    found.ok_or_else(|| {
        posthaste::Error::new(
            ErrorKind::NotFound,
            format!("there is no dead letter {dead_id}; `posthaste dlq list` has their numbers"),
        )
        .into()
    })
}

/// What to say if there are no dead letters.
fn none(is_filtered: bool) -> &'static str {
    if is_filtered {
        "No dead letter fits. Leave a filter out, or add --resolved for those that were replayed or discarded.\n"
    } else {
        "No dead letters. Nothing waits for a person.\n"
    }
}
