//! `posthaste subscriptions`: how they stand, and what operators do to them.

mod idle;
mod pause;
mod remove;
mod reset;

use clap::{Args, Subcommand};
use posthaste::Foreseen;

use crate::{
    End,
    desk::{self, Desk},
    screen::{counted, json_line, print},
    status::table,
};

const EXAMPLES: &str = "\
Examples:
  posthaste subscriptions list --config relay.yaml
  posthaste subscriptions pause mail --config relay.yaml
  posthaste subscriptions resume mail --config relay.yaml
  posthaste subscriptions reset mail --to 2h --dry-run --config relay.yaml
  posthaste subscriptions drop mail --config relay.yaml";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List subscriptions with what is ahead of them
    #[command(
        after_help = "Examples:\n  posthaste subscriptions list --database sqlite://shop.db\n  posthaste subscriptions list --config relay.yaml --json | jq .pending\n\n`posthaste status --help` explains the columns."
    )]
    List {
        #[command(flatten)]
        desk: desk::Options,
    },
    /// Stop a subscription; relays give its lanes back
    Pause(pause::Options),
    /// Let a paused subscription go on
    Resume(pause::ResumeOptions),
    /// Move the cursor: what lies between is delivered again, or never
    Reset(reset::Options),
    /// Remove a subscription with its cursors and everything parked; its dead letters stay
    Drop(remove::Options),
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    match options.action {
        Action::List { desk } => list(&desk.open().await?).await,
        Action::Pause(options) => pause::pause(options).await,
        Action::Resume(options) => pause::resume(options).await,
        Action::Reset(options) => reset::run(options).await,
        Action::Drop(options) => remove::run(options).await,
    }
}

async fn list(desk: &Desk) -> anyhow::Result<End> {
    let status = desk.status().await?;
    let text = if desk.json {
        status.subscriptions.iter().map(json_line).collect::<anyhow::Result<String>>()?
    } else if status.subscriptions.is_empty() {
        let command = desk.database.relay_command();
        format!("No subscriptions yet. A relay makes its own when it starts:\n  {command}\n")
    } else {
        table::subscriptions(&status, desk.look, desk.columns)
    };
    print(&text)?;
    Ok(End::Fine)
}

/// What moves with a cursor, in words.
fn consequences(foreseen: &Foreseen) -> String {
    let about = if foreseen.estimated { "about " } else { "" };
    match (foreseen.again, foreseen.skipped) {
        (0, 0) => "no event comes again, and none is passed over".to_owned(),
        (again, 0) => format!("{about}{} again", come(again)),
        (0, skipped) => format!("{about}{} passed over and never delivered", are(skipped)),
        (again, skipped) => {
            format!("{about}{} again, and {} passed over and never delivered", come(again), are(skipped))
        }
    }
}

fn come(events: u64) -> String {
    format!("{} {}", counted(events, "event"), if events == 1 { "comes" } else { "come" })
}

fn are(events: u64) -> String {
    format!("{} {}", counted(events, "pending event"), if events == 1 { "is" } else { "are" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consequences_are_told_in_words() {
        let foreseen = |again, skipped, estimated| Foreseen { concerned: 64, again, skipped, estimated };
        assert_eq!(consequences(&foreseen(0, 0, false)), "no event comes again, and none is passed over");
        assert_eq!(consequences(&foreseen(1, 0, false)), "1 event comes again");
        assert_eq!(
            consequences(&foreseen(0, 2, false)),
            "2 pending events are passed over and never delivered"
        );
        assert_eq!(
            consequences(&foreseen(5_000, 1, true)),
            "about 5,000 events come again, and 1 pending event is passed over and never delivered"
        );
    }
}
