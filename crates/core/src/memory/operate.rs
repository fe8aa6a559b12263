//! What operators do to dead letters and to the pause of a subscription. Each act writes into the journal who did it.

use std::{collections::BTreeSet, sync::Arc};

use super::{
    MemoryStore,
    dead::{DeadRow, Resolved},
    journal::JournalRow,
    parked::ParkedRow,
};
use crate::{
    Edit, Error, ErrorKind, Event, EventId, OperatorAct, Payload, Position, Result, Selection, Timestamp,
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
        let operator = Operator { now, by };
        match act {
            OperatorAct::Replay(selection) => self.replay(operator, selection),
            OperatorAct::Edit { dead_id, edit, new_id } => self.edit(operator, *dead_id, edit, *new_id),
            OperatorAct::Discard(selection) => Ok(self.discard(operator, selection)),
            OperatorAct::Pause(name) => self.set_paused(operator, name, true),
            OperatorAct::Resume(name) => self.set_paused(operator, name, false),
            OperatorAct::Reset { subscription, to } => self.reset(operator, subscription, *to),
            OperatorAct::Drop(name) => self.drop_subscription(operator, name),
        }
    }

    fn replay(&mut self, operator: Operator<'_>, selection: &Selection) -> Result<u64> {
        let selected = self.select(selection);
        // All or nothing: a dead letter can only be sent again to a subscription that is still there.
        for (_, row) in &selected {
            self.check_home(row)?;
        }
        let mut replayed = 0;
        for (dead_id, row) in selected {
            self.send_again(operator, dead_id, &row, None);
            replayed += 1;
        }
        Ok(replayed)
    }

    fn edit(&mut self, operator: Operator<'_>, dead_id: i64, edit: &Edit, new_id: EventId) -> Result<u64> {
        let Some(row) = self.dead.get(dead_id) else {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no dead letter {dead_id}")));
        };
        if let Some(resolved) = &row.resolved {
            let message = format!("dead letter {dead_id} was {} already, by {}", resolved.how, resolved.by);
            return Err(Error::new(ErrorKind::Refused, message));
        }
        self.check_home(row)?;
        let edited = edited(&row.event, edit, new_id)?;
        let row = DeadRow { event: Arc::new(edited), defect: None, ..row.clone() };
        self.send_again(operator, dead_id, &row, Some(new_id));
        Ok(1)
    }

    /// Parks the event of a dead letter as new, due now, and resolves the dead letter.
    fn send_again(&mut self, operator: Operator<'_>, dead_id: i64, row: &DeadRow, new_id: Option<EventId>) {
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

    fn discard(&mut self, operator: Operator<'_>, selection: &Selection) -> u64 {
        let mut discarded = 0;
        for (dead_id, row) in self.select(selection) {
            self.dead.resolve(dead_id, operator.resolved("discarded"), None);
            self.journal.write(operator.journal(&row.subscription, Some(row.position), "discarded"));
            discarded += 1;
        }
        discarded
    }

    fn set_paused(&mut self, operator: Operator<'_>, name: &str, paused: bool) -> Result<u64> {
        self.subscription(name)?;
        let Some(row) = self.subscriptions.get_mut(name).filter(|row| row.paused != paused) else {
            return Ok(0);
        };
        row.paused = paused;
        let what = if paused { "paused" } else { "resumed" };
        self.journal.write(operator.journal(name, None, what));
        Ok(1)
    }

    /// The selected dead letters that are not resolved, oldest first.
    fn select(&self, selection: &Selection) -> Vec<(i64, DeadRow)> {
        let rows: Vec<(i64, &DeadRow)> = match selection {
            Selection::Ids(ids) => {
                let ids: BTreeSet<i64> = ids.iter().copied().collect();
                ids.into_iter().filter_map(|id| Some((id, self.dead.get(id)?))).collect()
            }
            Selection::Matching(filter) => {
                self.dead.after(None).filter(|(_, row)| row.fits(filter)).collect()
            }
        };
        let unresolved = rows.into_iter().filter(|(_, row)| row.resolved.is_none());
        unresolved.map(|(id, row)| (id, row.clone())).collect()
    }

    fn check_home(&self, row: &DeadRow) -> Result<()> {
        if self.subscriptions.contains_key(&row.subscription) {
            return Ok(());
        }
        let name = &row.subscription;
        let message =
            format!("subscription {name:?} was dropped; create it again before its dead letters are sent");
        Err(Error::new(ErrorKind::Refused, message))
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
        }
    }
}

/// The event with what is changed of it. A payload stays of its kind.
fn edited(event: &Event, edit: &Edit, new_id: EventId) -> Result<Event> {
    let mut event = Event { id: new_id, ..event.clone() };
    if let Some(text) = &edit.payload {
        event.payload = match event.payload {
            Payload::Json(_) => {
                serde_json::from_str::<serde::de::IgnoredAny>(text)
                    .map_err(|error| Error::invalid("the edited payload is not JSON").with_source(error))?;
                Payload::Json(text.clone())
            }
            Payload::Bytes { content_type, .. } => {
                Payload::Bytes { bytes: text.clone().into_bytes(), content_type }
            }
        };
    }
    if let Some(headers) = &edit.headers {
        event.headers.clone_from(headers);
    }
    if let Some(topic) = &edit.topic {
        if topic.is_empty() {
            return Err(Error::invalid("the edited topic is empty"));
        }
        event.topic.clone_from(topic);
    }
    Ok(event)
}
