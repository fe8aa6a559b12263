//! `posthaste dlq replay` and `discard`: some dead letters at once, or all that fit as a job that the relays carry out.

use clap::Args;
use posthaste::{ErrorKind, JobKind, JobRequest, OperatorAct, Timestamp};
use serde_json::json;

use super::{find, selection, show::resolution};
use crate::{
    End,
    desk::{self, Desk},
    exit::{Coded, judged},
    jobs,
    screen::{confirm, counted, remark},
};

pub(super) const REPLAY: &str = "\
Examples:
  posthaste dlq replay 17 18 --database sqlite://shop.db
  posthaste dlq replay --config relay.yaml --subscription mail --dry-run
  posthaste dlq replay --config relay.yaml --error 'connection refused'
  posthaste dlq replay --config relay.yaml --all --rate 50 --detach --yes

Each goes to the one subscription in which it died, under its own id and with
attempts from 0. Events of one key keep their order among themselves.

Those named by their numbers are sent at once, all or none. By a filter, or
with --all, it is a job that the relays carry out in batches; it is watched
until it is over, unless --detach is there. Ctrl-C only stops watching:
`posthaste jobs cancel` stops a job. More than 100 are asked for first.";

pub(super) const DISCARD: &str = "\
Examples:
  posthaste dlq discard 17 --database sqlite://shop.db
  posthaste dlq discard --config relay.yaml --reason poison_message --dry-run
  posthaste dlq discard --config relay.yaml --subscription mail --until 30d --yes

They are kept until retention removes them, and can be listed with
`dlq list --resolved`, but not be sent again. A key that they hold goes on.

Those named by their numbers are discarded at once, all or none. By a filter,
or with --all, it is a job that the relays carry out in batches; it is watched
until it is over, unless --detach is there. More than 100 are asked for first.";

/// From here on a person is asked.
const MANY: u64 = 100;

#[derive(Args)]
pub(super) struct Options {
    #[command(flatten)]
    desk: desk::Options,
    /// Their numbers, as `dlq list` tells them
    #[arg(value_name = "ID", value_parser = clap::value_parser!(i64).range(1..))]
    ids: Vec<i64>,
    #[command(flatten)]
    selection: selection::Options,
    /// All that wait for a person
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    /// Only say how many it would be
    #[arg(long)]
    dry_run: bool,
    /// How many a second at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "ids")]
    rate: Option<u32>,
    /// Do not wait until it is done
    #[arg(long, conflicts_with = "ids")]
    detach: bool,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    by: desk::By,
}

pub(super) async fn run(mut options: Options, kind: JobKind) -> anyhow::Result<End> {
    options.ids.sort_unstable();
    options.ids.dedup();
    let act = options.act(kind)?;
    let selection = options.selection.clone();
    let desk = options.desk.open().await?;
    let now = desk.status().await?.now;
    check_waiting(&desk, &options.ids, now).await?;
    let concerned = match desk.admin().foresee(&act).await {
        Ok(foreseen) => foreseen.concerned,
        // A job for nothing is not started.
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        Err(error) => return Err(judged(error)),
    };
    if concerned == 0 {
        desk.check_if_named(selection.subscription.as_ref()).await?;
    }
    if options.dry_run || concerned == 0 {
        let would = if options.dry_run { "would be " } else { "" };
        let done = kind.resolution();
        let text = match concerned {
            0 => "No dead letter fits; nothing to do.\n".to_owned(),
            count => format!("{} {would}{done}\n", counted(count, "dead letter")),
        };
        let answer = json!({ "dry_run": options.dry_run, "concerned": concerned, "job_id": null });
        desk.answer(&answer, &text)?;
        return Ok(End::Fine);
    }
    if concerned > MANY && !options.yes && !confirm(&question(kind, concerned, &selection))? {
        remark("nothing was done\n");
        return Ok(End::Bad);
    }
    let answer = desk.act(&act, &options.by).await?;
    match act {
        OperatorAct::Start(_) if !options.detach => jobs::follow(&desk, answer).await,
        OperatorAct::Start(_) => jobs::tell_started(&desk, answer, concerned),
        _ => {
            let text = format!("{} {}\n", counted(answer, "dead letter"), kind.resolution());
            desk.answer(&json!({ "dry_run": false, "concerned": answer, "job_id": null }), &text)?;
            Ok(End::Fine)
        }
    }
}

impl Options {
    /// What is to be done: exactly one of numbers, a filter and everything.
    fn act(&self, kind: JobKind) -> anyhow::Result<OperatorAct> {
        let matching = self.selection.filter();
        let is_filtered = matching != posthaste::DeadFilter::default();
        match (self.ids.as_slice(), is_filtered || self.all) {
            ([], true) => Ok(OperatorAct::Start(JobRequest { kind, matching, per_second: self.rate })),
            (ids, false) if !ids.is_empty() && kind == JobKind::Replay => {
                Ok(OperatorAct::Replay(ids.to_vec()))
            }
            (ids, false) if !ids.is_empty() => Ok(OperatorAct::Discard(ids.to_vec())),
            ([], _) => Err(Coded::not_understood(
                "which dead letters? write their numbers, a filter such as --subscription NAME, or --all",
            )),
            _ => Err(Coded::not_understood("numbers and a filter exclude each other; write one of them")),
        }
    }
}

/// Refuses all if one of them is not there, or does not wait for a person any more.
async fn check_waiting(desk: &Desk, ids: &[i64], now: Timestamp) -> anyhow::Result<()> {
    for id in ids {
        let letter = find(desk, *id).await?;
        if let Some(how) = resolution(&letter, now) {
            return Err(Coded::refused(format!(
                "dead letter {id} is resolved already: {how}; nothing was done"
            )));
        }
    }
    Ok(())
}

fn question(kind: JobKind, concerned: u64, selection: &selection::Options) -> String {
    let what = match kind {
        JobKind::Replay => "are sent again",
        JobKind::Discard => "are given up for good",
    };
    let which = selection::in_words(&selection.filter());
    format!("{} ({which}) {what}. Go on?", counted(concerned, "dead letter"))
}
