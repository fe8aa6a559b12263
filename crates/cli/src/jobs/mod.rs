//! `posthaste jobs`: what relays do to many dead letters for operators.

mod watch;

use clap::{Args, Subcommand};
use posthaste::{ErrorKind, Job, JobState, OperatorAct, Timestamp};
use serde_json::json;

pub(crate) use self::watch::{follow, tell_started};
use crate::{
    End,
    desk::{self, Desk},
    dlq::selection::in_words,
    events::listed,
    exit::judged,
    screen::{Cell, Column, Table, ago, grouped, json_line, moment, print},
};

const EXAMPLES: &str = "\
Examples:
  posthaste jobs list --config relay.yaml
  posthaste jobs show 3 --config relay.yaml
  posthaste jobs watch 3 --config relay.yaml
  posthaste jobs cancel 3 --config relay.yaml

`posthaste dlq replay` and `discard` start jobs, by a filter or with --all. A
list has those that are not over, and the last ones that are: 50 at most. Any
other is found by its number.";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// List jobs, newest first
    #[command(
        after_help = "Examples:\n  posthaste jobs list --database sqlite://shop.db\n  posthaste jobs list --config relay.yaml --json"
    )]
    List {
        #[command(flatten)]
        desk: desk::Options,
    },
    /// Show one job
    #[command(after_help = "Examples:\n  posthaste jobs show 3 --database sqlite://shop.db")]
    Show(One),
    /// Watch a job until it is over
    #[command(
        after_help = "Examples:\n  posthaste jobs watch 3 --database sqlite://shop.db\n\nCtrl-C stops watching, and not the job. With --json its state is a line each\ntime it changes. Exits with 1 if the job failed or was cancelled."
    )]
    Watch(One),
    /// Stop a job; what it has done stays done
    #[command(after_help = "Examples:\n  posthaste jobs cancel 3 --database sqlite://shop.db")]
    Cancel {
        #[command(flatten)]
        one: One,
        #[command(flatten)]
        by: desk::By,
    },
}

#[derive(Args)]
struct One {
    #[command(flatten)]
    desk: desk::Options,
    /// Its number, as `jobs list` tells it
    #[arg(value_name = "ID", value_parser = clap::value_parser!(i64).range(1..))]
    job_id: i64,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<End> {
    match options.action {
        Action::List { desk } => list(&desk.open().await?).await,
        Action::Show(one) => {
            let desk = one.desk.open().await?;
            let job = find(&desk, one.job_id).await?;
            let now = desk.status().await?.now;
            desk.answer(&job, &render(&desk, &job, now))?;
            Ok(End::Fine)
        }
        Action::Watch(one) => {
            let desk = one.desk.open().await?;
            find(&desk, one.job_id).await?;
            watch::watch(&desk, one.job_id).await
        }
        Action::Cancel { one, by } => {
            let desk = one.desk.open().await?;
            desk.act(&OperatorAct::Cancel(one.job_id), &by).await?;
            let text = format!("job {} is cancelled; what it has done stays done\n", one.job_id);
            desk.answer(&json!({ "job_id": one.job_id, "state": "cancelled" }), &text)?;
            Ok(End::Fine)
        }
    }
}

async fn list(desk: &Desk) -> anyhow::Result<End> {
    let status = desk.status().await?;
    let text = match status.jobs.as_slice() {
        jobs if desk.json => jobs.iter().map(json_line).collect::<anyhow::Result<String>>()?,
        [] => format!(
            "No jobs. One is started by a filter:\n  {}\n",
            desk.database.command("dlq replay --all --dry-run")
        ),
        jobs => table(desk, jobs, status.now),
    };
    print(&text)?;
    Ok(End::Fine)
}

/// The job of this number, as it stands.
async fn find(desk: &Desk, job_id: i64) -> anyhow::Result<Job> {
    let found = desk.admin().job(job_id).await;
    found.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            let text = format!("{error}; `posthaste jobs list` has the latest");
            posthaste::Error::new(ErrorKind::NotFound, text).into()
        }
        _ => judged(error),
    })
}

fn table(desk: &Desk, jobs: &[Job], now: Timestamp) -> String {
    let columns = [
        Column::number("id"),
        Column::text("what"),
        Column::text("state"),
        Column::number("done"),
        Column::number("of"),
        Column::flexible("by", 6),
        Column::text("since"),
        Column::flexible("which", 10),
    ];
    let mut table = Table::new(&columns);
    for job in jobs {
        let state = Cell::new(job.state.as_str());
        table.row([
            Cell::new(job.job_id.to_string()),
            Cell::new(job.kind.as_str()),
            match job.state {
                JobState::Done => state.good(),
                JobState::Failed => state.bad(),
                JobState::Cancelled => state.faint(),
                JobState::Waiting | JobState::Running => state.warning(),
            },
            Cell::new(grouped(job.done)),
            Cell::new(grouped(job.concerned)),
            Cell::new(&job.requested_by),
            Cell::new(ago(job.requested_at, now)).faint(),
            Cell::new(in_words(&job.matching)),
        ]);
    }
    table.render(desk.look, desk.columns)
}

fn render(desk: &Desk, job: &Job, now: Timestamp) -> String {
    let facts = [
        ("what", Some(format!("{}: {}", job.kind.as_str(), in_words(&job.matching)))),
        ("state", Some(job.state.as_str().to_owned())),
        ("done", Some(format!("{} of {}", grouped(job.done), grouped(job.concerned)))),
        ("rate", job.per_second.map(|rate| format!("{} a second at most", grouped(rate.into())))),
        ("requested", Some(format!("{} by {}", moment(job.requested_at, now), job.requested_by))),
        ("started", job.started_at.map(|at| moment(at, now))),
        ("finished", job.finished_at.map(|at| moment(at, now))),
        ("error", job.error.clone()),
    ];
    format!("{}\n{}", desk.look.strong(format!("job {}", job.job_id)), listed(&facts, desk.look))
}
