//! Watching a job until it is over. The relays carry it out; this only looks.

use std::time::Duration;

use posthaste::{Job, JobState, Status};
use serde_json::json;

use super::find;
use crate::{
    End,
    desk::Desk,
    screen::{Progress, counted, grouped, json_line, print, remark},
    signals::Signals,
};

/// How long to wait between two looks: short at first, for jobs that are done at once.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// Watches a job that was just started; if no relay runs that could carry it out, says so instead of waiting for ever.
pub(crate) async fn follow(desk: &Desk, job_id: u64) -> anyhow::Result<End> {
    let status = desk.status().await?;
    let job_id = i64::try_from(job_id).unwrap_or(i64::MAX);
    if status.relays.is_empty() {
        let concerned = find_in(&status, job_id).map_or(0, |job| job.concerned);
        tell_started(desk, job_id.unsigned_abs(), concerned)?;
        let command = desk.database.relay_command_for("NAME");
        remark(&format!("No relay is running. The job waits for one, such as:\n  {command}\n"));
        return Ok(End::Fine);
    }
    watch(desk, job_id).await
}

/// Says which job it is, and how to look after it.
pub(crate) fn tell_started(desk: &Desk, job_id: u64, concerned: u64) -> anyhow::Result<End> {
    let text = format!(
        "job {job_id} is started for {}\n  watch it:  {}\n  stop it:   {}\n",
        counted(concerned, "dead letter"),
        desk.database.command(&format!("jobs watch {job_id}")),
        desk.database.command(&format!("jobs cancel {job_id}")),
    );
    desk.answer(&json!({ "dry_run": false, "concerned": concerned, "job_id": job_id }), &text)?;
    Ok(End::Fine)
}

/// Watches a job until it is over, or until somebody has seen enough.
pub(super) async fn watch(desk: &Desk, job_id: i64) -> anyhow::Result<End> {
    let mut signals = Signals::watch()?;
    let mut last = None;
    let mut wait = FIRST;
    let mut progress = Progress::new(format!("job {job_id}"));
    loop {
        let job = find(desk, job_id).await?;
        if last.as_ref() != Some(&job) {
            progress.draw(job.done, job.concerned);
            if desk.json {
                print(&json_line(&job)?)?;
            }
            wait = FIRST;
        }
        if job.state.is_over() {
            drop(progress);
            return tell_end(desk, &job);
        }
        last = Some(job);
        tokio::select! {
            () = tokio::time::sleep(wait) => wait = (wait * 2).min(LONGEST),
            _ = signals.next() => {
                drop(progress);
                let command = desk.database.command(&format!("jobs cancel {job_id}"));
                remark(&format!("job {job_id} goes on; this stops it:\n  {command}\n"));
                return Ok(End::Fine);
            }
        }
    }
}

fn tell_end(desk: &Desk, job: &Job) -> anyhow::Result<End> {
    if !desk.json {
        print(&ended(job))?;
    }
    Ok(if job.state == JobState::Done { End::Fine } else { End::Bad })
}

fn ended(job: &Job) -> String {
    let (done, all) = (grouped(job.done), counted(job.concerned, "dead letter"));
    let what = job.kind.resolution();
    match job.state {
        JobState::Done if job.done < job.concerned => {
            format!(
                "job {} is done: {done} of {all} {what}; somebody else resolved the others meanwhile\n",
                job.job_id
            )
        }
        JobState::Done => format!("job {} is done: {all} {what}\n", job.job_id),
        state => {
            let error = job.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
            format!("job {} is {} after {done} of {all}{error}\n", job.job_id, state.as_str())
        }
    }
}

fn find_in(status: &Status, job_id: i64) -> Option<&Job> {
    status.jobs.iter().find(|job| job.job_id == job_id)
}
