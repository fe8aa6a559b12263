//! `posthaste events`: what is in the log, and what became of each event.

mod list;
mod show;
pub(crate) mod status;

use clap::{Args, Subcommand};

pub(crate) use self::show::{body, listed};

use crate::{End, desk};

const EXAMPLES: &str = "\
Examples:
  posthaste events list --database sqlite://shop.db
  posthaste events list --config relay.yaml --subscription mail --status failed
  posthaste events list --config relay.yaml --key order-7 --oldest-first
  posthaste events show 0190163d-8694-739b-aea5-966c26f8ad91 --config relay.yaml";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List events with their status, newest first
    List(Box<list::Options>),
    /// Show one event: payload, headers, status everywhere, and all that happened to it
    Show(show::Options),
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    match options.action {
        Action::List(options) => list::run(*options).await,
        Action::Show(options) => show::run(options).await,
    }
}
