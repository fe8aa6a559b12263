//! `posthaste subscriptions pause` and `resume`.

use std::time::Instant;

use clap::Args;
use posthaste::OperatorAct;
use serde_json::json;

use super::idle::{Idle, Patience};
use crate::{End, desk};

const PAUSE: &str = "\
Examples:
  posthaste subscriptions pause mail --database sqlite://shop.db
  posthaste subscriptions pause mail --config relay.yaml --detach

Relays hear of it when they renew their leases, finish what they have sent,
and give the lanes back. That is waited for, unless --detach is there. Events
are kept; `posthaste subscriptions resume` lets it go on where it was.";

const RESUME: &str = "\
Examples:
  posthaste subscriptions resume mail --database sqlite://shop.db";

#[derive(Args)]
#[command(after_help = PAUSE)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Do not wait until relays have given its lanes back
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    by: desk::By,
}

#[derive(Args)]
#[command(after_help = RESUME)]
pub(super) struct ResumeOptions {
    #[command(flatten)]
    desk: desk::Options,
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    by: desk::By,
}

pub(super) async fn pause(options: Options) -> anyhow::Result<End> {
    let desk = options.desk.open().await?;
    let name = options.name;
    desk.check_subscription(&name).await?;
    let changed = desk.act(&OperatorAct::Pause(name.clone()), &options.by).await? > 0;
    if !options.detach {
        let patience = options.patience.timeout;
        let idle = Idle { desk: &desk, by: &options.by, name: &name, patience };
        idle.wait(Instant::now() + patience).await?;
    }
    let nobody = if options.detach { "" } else { "; nobody holds its lanes" };
    let text = match changed {
        true => format!("{name} is paused{nobody}\n"),
        false => format!("{name} was paused already{nobody}\n"),
    };
    desk.answer(&json!({ "subscription": name, "paused": true, "changed": changed }), &text)?;
    Ok(End::Fine)
}

pub(super) async fn resume(options: ResumeOptions) -> anyhow::Result<End> {
    let desk = options.desk.open().await?;
    let name = options.name;
    let status = desk.check_subscription(&name).await?;
    let changed = desk.act(&OperatorAct::Resume(name.clone()), &options.by).await? > 0;
    let text = match (changed, status.relays.is_empty()) {
        (false, _) => format!("{name} was not paused\n"),
        (true, false) => format!("{name} goes on\n"),
        (true, true) => {
            format!("{name} goes on as soon as a relay runs:\n  {}\n", desk.database.relay_command_for(&name))
        }
    };
    desk.answer(&json!({ "subscription": name, "paused": false, "changed": changed }), &text)?;
    Ok(End::Fine)
}
