//! `posthaste subscriptions drop`: removes a subscription.

use clap::Args;
use posthaste::{Foreseen, OperatorAct, Status};

use super::idle::{Plan, Words};
use crate::{End, screen::counted};

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
    plan: Plan,
}

pub(super) async fn run(options: Options) -> anyhow::Result<End> {
    let name = options.plan.name.clone();
    let act = OperatorAct::Drop(name.clone());
    let words = |status: &Status, _: &Foreseen| {
        let found = status.subscriptions.iter().find(|found| found.name == name);
        let (pending, parked) = found.map_or((0, 0), |found| (found.pending, found.failed + found.delayed));
        let lost = format!("{} and {}", counted(pending, "pending event"), counted(parked, "parked event"));
        Words {
            would: format!("{name} would be dropped, and with it {lost}\n"),
            question: Some(format!("{name} is dropped, and with it {lost}. Go on?")),
            done: format!("{name} is dropped; its dead letters stay\n"),
        }
    };
    options.plan.carry_out(act, words).await
}
