//! `posthaste subscriptions drop`: removes a subscription.

use clap::Args;
use posthaste::OperatorAct;

use super::{
    idle::{Idle, Patience},
    told,
};
use crate::{
    End, desk,
    screen::{confirm, counted, remark},
};

const EXAMPLES: &str = "\
Examples:
  posthaste subscriptions drop mail --dry-run --database sqlite://shop.db
  posthaste subscriptions drop mail --yes --config relay.yaml

Its cursors and everything parked are gone; its dead letters stay. Events that
only it kept are pruned. A relay that still has it in its configuration makes
it anew when it starts. You are asked first, unless --yes is there.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Its name
    #[arg(value_name = "NAME")]
    name: String,
    /// Only say what it would do
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    by: desk::By,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let desk = options.desk.open().await?;
    let name = options.name;
    let status = desk.check_subscription(&name).await?;
    let act = OperatorAct::Drop(name.clone());
    let foreseen = desk.foresee(&act).await?;
    let found = status.subscriptions.iter().find(|found| found.name == name);
    let (pending, parked) = found.map_or((0, 0), |found| (found.pending, found.failed + found.delayed));
    let lost = format!("{} and {}", counted(pending, "pending event"), counted(parked, "parked event"));
    if options.dry_run {
        let text = format!("{name} would be dropped, and with it {lost}\n");
        desk.answer(&told(&name, &foreseen, true), &text)?;
        return Ok(End::Fine);
    }
    if !options.yes && !confirm(&format!("{name} is dropped, and with it {lost}. Go on?"))? {
        remark("nothing was done\n");
        return Ok(End::Bad);
    }
    let idle = Idle { desk: &desk, by: &options.by, name: &name, patience: options.patience.timeout };
    idle.act(&act).await?;
    desk.answer(&told(&name, &foreseen, false), &format!("{name} is dropped; its dead letters stay\n"))?;
    Ok(End::Fine)
}
