//! What operators do to dead letters and to the pause of a subscription. Each act writes into the journal who did it.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    MemoryStore,
    dead::{DeadRow, Resolved},
    journal::JournalRow,
    parked::ParkedRow,
};
use crate::{
    Edit, Event, EventId, Job, OperatorAct, Payload, Position, Result, Timestamp, driver::refuse,
    letters_text,
};

/// Who acts, and when.
#[derive(Clone, Copy)]
pub(super) struct Operator<'a> {
    pub(super) now: Timestamp,
    pub(super) by: &'a str,
}

impl MemoryStore {
    /// Does what an operator asks for, and answers how many dead letters, subscriptions or lanes it concerned.
    pub fn act(&mut self, now: Timestamp, act: &OperatorAct, by: &str) -> Result<u64> {
        act.validate()?;
        let operator = Operator { now, by };
        match act {
            OperatorAct::Replay(ids) => self.replay(operator, ids),
            OperatorAct::Edit { dead_id, edit, new_id } => self.edit(operator, *dead_id, edit, *new_id),
            OperatorAct::Discard(ids) => Ok(self.discard(operator, ids)),
            OperatorAct::Start(request) => self.start(operator, request),
            OperatorAct::Cancel(job_id) => self.cancel(operator, *job_id),
            OperatorAct::Pause(name) => self.set_paused(operator, name, true),
            OperatorAct::Resume(name) => self.set_paused(operator, name, false),
            OperatorAct::Reset { subscription, to } => self.reset(operator, subscription, *to),
            OperatorAct::Drop(name) => self.drop_subscription(operator, name),
            OperatorAct::Tune(detail) => {
                self.journal.write(operator.audit(None, "tuned", 1, Some(detail.clone())));
                Ok(1)
            }
        }
    }

    fn replay(&mut self, operator: Operator<'_>, ids: &[i64]) -> Result<u64> {
        let selected = self.select(ids);
        // All or nothing: a dead letter can only be sent again to a subscription that is still there.
        for (_, row) in &selected {
            self.check_home(row)?;
        }
        for (dead_id, row) in &selected {
            self.send_again(operator, *dead_id, row, None);
        }
        Ok(self.audit_letters(operator, "replayed", &selected))
    }

    fn edit(&mut self, operator: Operator<'_>, dead_id: i64, edit: &Edit, new_id: EventId) -> Result<u64> {
        let row = self.editable(dead_id)?;
        let edited = edited(&row.event, edit, new_id)?;
        let row = DeadRow { event: Arc::new(edited), defect: None, ..row.clone() };
        self.send_again(operator, dead_id, &row, Some(new_id));
        Ok(self.audit_letters(operator, "edited", &[(dead_id, row)]))
    }

    /// A dead letter that can be sent again.
    pub(super) fn editable(&self, dead_id: i64) -> Result<&DeadRow> {
        let Some(row) = self.dead.get(dead_id) else {
            return Err(refuse::no_dead_letter(dead_id));
        };
        if let Some(resolved) = &row.resolved {
            return Err(refuse::resolved(dead_id, resolved.how, Some(&resolved.by)));
        }
        self.check_home(row)?;
        Ok(row)
    }

    /// Parks the event of a dead letter as new, due now, and resolves the dead letter.
    pub(super) fn send_again(
        &mut self,
        operator: Operator<'_>,
        dead_id: i64,
        row: &DeadRow,
        new_id: Option<EventId>,
    ) {
        let how = if new_id.is_some() { "edited" } else { "replayed" };
        if !self.dead.resolve(dead_id, operator.resolved(how), new_id) {
            return;
        }
        if let Some(subscription) = self.subscriptions.get_mut(&row.subscription) {
            let parked = ParkedRow {
                lane: row.lane,
                event: Arc::clone(&row.event),
                defect: row.defect.clone(),
                attempts: 0,
                due_at: operator.now,
                delayed: false,
                // Kept, so that its delivery is written into the journal: it had failed before.
                last_error: Some(row.error.clone()),
            };
            subscription.parked.insert(row.position, parked);
        }
        let detail = new_id.map(|id| format!("as {id}"));
        self.journal
            .write(JournalRow { detail, ..operator.journal(&row.subscription, Some(row.position), how) });
    }

    fn discard(&mut self, operator: Operator<'_>, ids: &[i64]) -> u64 {
        let selected = self.select(ids);
        for (dead_id, row) in &selected {
            self.give_up(operator, *dead_id, row);
        }
        self.audit_letters(operator, "discarded", &selected)
    }

    /// Resolves a dead letter as given up for good.
    pub(super) fn give_up(&mut self, operator: Operator<'_>, dead_id: i64, row: &DeadRow) {
        self.dead.resolve(dead_id, operator.resolved("discarded"), None);
        self.journal.write(operator.journal(&row.subscription, Some(row.position), "discarded"));
    }

    /// Writes down what was done to dead letters as one act, and answers how many there were.
    fn audit_letters(
        &mut self,
        operator: Operator<'_>,
        what: &'static str,
        letters: &[(i64, DeadRow)],
    ) -> u64 {
        let Some((_, first)) = letters.first() else { return 0 };
        let same = letters.iter().all(|(_, row)| row.subscription == first.subscription);
        let ids: Vec<i64> = letters.iter().map(|(id, _)| *id).collect();
        let subscription = same.then_some(first.subscription.as_str());
        let concerned = letters.len() as u64;
        self.journal.write(operator.audit(subscription, what, concerned, Some(letters_text(&ids))));
        concerned
    }

    fn set_paused(&mut self, operator: Operator<'_>, name: &str, paused: bool) -> Result<u64> {
        self.subscription(name)?;
        let Some(row) = self.subscriptions.get_mut(name).filter(|row| row.paused != paused) else {
            return Ok(0);
        };
        row.paused = paused;
        let what = if paused { "paused" } else { "resumed" };
        self.journal.write(operator.audit(Some(name), what, 1, None));
        Ok(1)
    }

    /// Those of these dead letters that are not resolved, oldest first.
    pub(super) fn select(&self, ids: &[i64]) -> Vec<(i64, DeadRow)> {
        let ids: BTreeSet<i64> = ids.iter().copied().collect();
        let rows = ids.into_iter().filter_map(|id| Some((id, self.dead.get(id)?)));
        rows.filter(|(_, row)| row.resolved.is_none()).map(|(id, row)| (id, row.clone())).collect()
    }

    pub(super) fn check_home(&self, row: &DeadRow) -> Result<()> {
        match self.subscriptions.contains_key(&row.subscription) {
            true => Ok(()),
            false => Err(refuse::homeless(&row.subscription)),
        }
    }
}

impl Operator<'_> {
    pub(super) fn resolved(self, how: &'static str) -> Resolved {
        Resolved { how, at: self.now, by: self.by.to_owned() }
    }

    pub(super) fn journal(
        self,
        subscription: &str,
        position: Option<Position>,
        what: &'static str,
    ) -> JournalRow {
        JournalRow {
            at: self.now,
            subscription: Some(subscription.to_owned()),
            position,
            what,
            attempt: None,
            detail: None,
            by: self.by.to_owned(),
            concerned: None,
        }
    }

    /// The row that says what was done as a whole.
    pub(super) fn audit(
        self,
        subscription: Option<&str>,
        what: &'static str,
        concerned: u64,
        detail: Option<String>,
    ) -> JournalRow {
        JournalRow {
            subscription: subscription.map(str::to_owned),
            detail,
            concerned: Some(concerned),
            ..self.journal("", None, what)
        }
    }

    /// The row that says what became of a job.
    pub(super) fn of_job(self, job: &Job, what: &'static str, concerned: u64) -> JournalRow {
        self.audit(job.matching.subscription.as_deref(), what, concerned, Some(job.text()))
    }
}

/// The event with what is changed of it. A payload stays of its kind.
fn edited(event: &Event, edit: &Edit, new_id: EventId) -> Result<Event> {
    edit.check(event.payload.content_type())?;
    let mut event = Event { id: new_id, ..event.clone() };
    if let Some(text) = &edit.payload {
        event.payload = match event.payload {
            Payload::Json(_) => Payload::Json(text.clone()),
            Payload::Bytes { content_type, .. } => {
                Payload::Bytes { bytes: text.clone().into_bytes(), content_type }
            }
        };
    }
    if let Some(headers) = &edit.headers {
        event.headers.clone_from(headers);
    }
    if let Some(topic) = &edit.topic {
        event.topic.clone_from(topic);
    }
    Ok(event)
}
