//! Jobs: what relays do to many dead letters for an operator, a batch at a time, in the order of the log.

use std::{collections::BTreeMap, time::Duration};

use super::{MemoryStore, dead::DeadRow, operate::Operator};
use crate::{
    DeadFilter, Error, ErrorKind, Job, JobKind, JobRequest, JobState, MAX_BATCH, MAX_JOBS, Position, Result,
    Timestamp, Worked, driver::refuse,
};

/// How many jobs are told of.
const TOLD: usize = 50;

#[derive(Clone, Debug, Default)]
pub(super) struct JobTable {
    rows: BTreeMap<i64, JobRow>,
    last_id: i64,
}

#[derive(Clone, Debug)]
struct JobRow {
    job: Job,
    /// Dead letters behind this one died after the start.
    last_dead_id: i64,
    /// The last dead letter that was done, by its place.
    cursor: (Position, i64),
    /// Not before this time.
    next_at: Timestamp,
}

impl JobTable {
    /// Those that are not over, and the last ones that are, newest first.
    pub(super) fn latest(&self) -> Vec<Job> {
        let mut jobs: Vec<&Job> = self.rows.values().map(|row| &row.job).collect();
        jobs.sort_by_key(|job| (job.state.is_over(), -job.job_id));
        jobs.truncate(TOLD);
        jobs.sort_by_key(|job| -job.job_id);
        jobs.into_iter().cloned().collect()
    }

    pub(super) fn get(&self, job_id: i64) -> Result<&Job> {
        let row = self.rows.get(&job_id).map(|row| &row.job);
        row.ok_or_else(|| refuse::no_job(job_id))
    }

    /// Removes jobs that were over before this time. Answers how many.
    pub(super) fn prune(&mut self, before: Timestamp, step: usize) -> usize {
        let old = |row: &JobRow| row.job.finished_at.is_some_and(|finished_at| finished_at < before);
        let going: Vec<i64> =
            self.rows.iter().filter(|(_, row)| old(row)).map(|(id, _)| *id).take(step).collect();
        for id in &going {
            self.rows.remove(id);
        }
        going.len()
    }

    fn unfinished(&self) -> impl Iterator<Item = (&i64, &JobRow)> {
        self.rows.iter().filter(|(_, row)| !row.job.state.is_over())
    }
}

impl MemoryStore {
    /// Starts a job, and answers its number.
    pub(super) fn start(&mut self, operator: Operator<'_>, request: &JobRequest) -> Result<u64> {
        let concerned = self.foresee_letters(request)?;
        if self.jobs.unfinished().count() as u64 >= MAX_JOBS {
            let message = format!("{MAX_JOBS} jobs are not over yet; wait for one, or cancel one");
            return Err(Error::new(ErrorKind::Refused, message));
        }
        self.jobs.last_id += 1;
        let job = Job {
            job_id: self.jobs.last_id,
            kind: request.kind,
            matching: DeadFilter { cursor: None, limit: 0, resolved: false, ..request.matching.clone() },
            per_second: request.per_second,
            requested_by: operator.by.to_owned(),
            requested_at: operator.now,
            state: JobState::Waiting,
            concerned,
            done: 0,
            error: None,
            started_at: None,
            finished_at: None,
        };
        self.journal.write(operator.of_job(&job, "started", concerned));
        let (last_dead_id, cursor) = (self.dead.last_id(), (Position(0), 0));
        self.jobs.rows.insert(job.job_id, JobRow { job, last_dead_id, cursor, next_at: operator.now });
        Ok(self.jobs.last_id.unsigned_abs())
    }

    /// How many dead letters a job would concern. One that would concern none is refused.
    pub(super) fn foresee_letters(&self, request: &JobRequest) -> Result<u64> {
        let mut concerned = 0;
        for (_, row) in self.dead.matching(&request.matching) {
            if request.kind == JobKind::Replay {
                self.check_home(row)?;
            }
            concerned += 1;
        }
        if concerned == 0 {
            return Err(Error::new(ErrorKind::NotFound, "no unresolved dead letter fits"));
        }
        Ok(concerned)
    }

    /// Stops a job.
    pub(super) fn cancel(&mut self, operator: Operator<'_>, job_id: i64) -> Result<u64> {
        self.jobs.get(job_id)?.check_cancel()?;
        if let Some(row) = self.jobs.rows.get_mut(&job_id) {
            row.job.state = JobState::Cancelled;
            row.job.finished_at = Some(operator.now);
            self.journal.write(operator.of_job(&row.job, "cancelled", row.job.done));
        }
        Ok(1)
    }

    /// Carries out a part of the job that has waited longest, if one is due.
    pub fn work(&mut self, now: Timestamp) -> Worked {
        let due = self.jobs.unfinished().filter(|(_, row)| row.next_at <= now);
        let job_id = due.min_by_key(|(id, row)| (row.next_at, **id)).map(|(id, _)| *id);
        let letters = job_id.map_or(0, |job_id| self.work_on(now, job_id));
        let next = self.jobs.unfinished().map(|(_, row)| row.next_at.since(now)).min();
        Worked { letters, next }
    }

    fn work_on(&mut self, now: Timestamp, job_id: i64) -> u64 {
        let Some(mut row) = self.jobs.rows.get(&job_id).cloned() else { return 0 };
        let size = row.job.per_second.unwrap_or(MAX_BATCH).min(MAX_BATCH);
        let batch = self.batch(&row, size);
        row.job.started_at.get_or_insert(now);
        row.job.state = JobState::Running;
        let homeless = batch.iter().find_map(|(_, letter)| self.check_home(letter).err());
        let done = match homeless.filter(|_| row.job.kind == JobKind::Replay) {
            Some(error) => {
                row.finish(JobState::Failed, Some(error.to_string()), now);
                0
            }
            None => self.do_batch(&mut row, &batch, now),
        };
        if row.job.state != JobState::Failed && batch.len() < size as usize {
            row.finish(JobState::Done, None, now);
        }
        if row.job.state.is_over() {
            let requester = Operator { now, by: &row.job.requested_by };
            self.journal.write(requester.of_job(&row.job, "finished", row.job.done));
        }
        self.jobs.rows.insert(job_id, row);
        done
    }

    /// The next dead letters of a job: by position, so that the events of a key keep their order from batch to batch.
    fn batch(&self, row: &JobRow, size: u32) -> Vec<(i64, DeadRow)> {
        let place = |id: i64, letter: &DeadRow| (letter.position, id);
        let ahead = self
            .dead
            .matching(&row.job.matching)
            .filter(|(id, letter)| *id <= row.last_dead_id && place(*id, letter) > row.cursor);
        let mut letters: Vec<(i64, DeadRow)> = ahead.map(|(id, letter)| (id, letter.clone())).collect();
        letters.sort_by_key(|(id, letter)| place(*id, letter));
        letters.truncate(size as usize);
        letters
    }

    fn do_batch(&mut self, row: &mut JobRow, batch: &[(i64, DeadRow)], now: Timestamp) -> u64 {
        let requester = Operator { now, by: &row.job.requested_by };
        for (dead_id, letter) in batch {
            match row.job.kind {
                JobKind::Replay => self.send_again(requester, *dead_id, letter, None),
                JobKind::Discard => self.give_up(requester, *dead_id, letter),
            }
        }
        let done = batch.len() as u64;
        if let Some((dead_id, letter)) = batch.last() {
            row.cursor = (letter.position, *dead_id);
        }
        row.job.done += done;
        // At the front of nothing: a job that was just carried on goes behind those that wait.
        let pause = row.job.per_second.map(|rate| Duration::from_secs(done) / rate).unwrap_or_default();
        row.next_at = now + pause;
        done
    }
}

impl JobRow {
    fn finish(&mut self, state: JobState, error: Option<String>, now: Timestamp) {
        self.job.state = state;
        self.job.error = error;
        self.job.finished_at = Some(now);
    }
}
