//! What an act would concern, without doing it.

use super::{MemoryStore, SubscriptionRow};
use crate::{Foreseen, OperatorAct, Position, ResetTo, Result};

impl MemoryStore {
    /// Says what an act would concern, and changes nothing.
    pub fn foresee(&self, act: &OperatorAct) -> Result<Foreseen> {
        act.validate()?;
        let of = |concerned: u64| Foreseen { concerned, ..Foreseen::default() };
        match act {
            OperatorAct::Replay(ids) => {
                let selected = self.select(ids);
                selected.iter().try_for_each(|(_, row)| self.check_home(row))?;
                Ok(of(selected.len() as u64))
            }
            OperatorAct::Discard(ids) => Ok(of(self.select(ids).len() as u64)),
            OperatorAct::Edit { dead_id, .. } => self.editable(*dead_id).map(|_| of(1)),
            OperatorAct::Start(request) => self.foresee_letters(request).map(of),
            OperatorAct::Cancel(job_id) => {
                let job = self.jobs.get(*job_id)?;
                job.check_cancel()?;
                Ok(of(job.concerned.saturating_sub(job.done)))
            }
            OperatorAct::Pause(name) => Ok(of(u64::from(!self.subscription(name)?.paused))),
            OperatorAct::Resume(name) => Ok(of(u64::from(self.subscription(name)?.paused))),
            OperatorAct::Reset { subscription, to } => {
                let row = self.subscription(subscription)?;
                Ok(self.foresee_reset(row, self.reset_after(*to)))
            }
            OperatorAct::Drop(name) => self.subscription(name).map(|_| of(1)),
            OperatorAct::Tune(_) => Ok(of(1)),
        }
    }

    fn foresee_reset(&self, row: &SubscriptionRow, after: Position) -> Foreseen {
        let mut foreseen = Foreseen { concerned: u64::from(self.lanes), ..Foreseen::default() };
        let wanted = self.log.oldest_first(None).filter(|(_, event)| row.filter.matches(&event.event));
        for (position, event) in wanted {
            let passed = row.chain(event.lane).cursor().has_passed(position);
            foreseen.again += u64::from(passed && position > after);
            foreseen.skipped += u64::from(!passed && position <= after);
        }
        foreseen
    }

    /// The cursor that a reset sets.
    pub(super) fn reset_after(&self, to: ResetTo) -> Position {
        match to {
            ResetTo::Beginning => Position(0),
            ResetTo::Now => self.log.last(),
            ResetTo::Position(next) => Position(next.0.saturating_sub(1).max(0)),
            ResetTo::Time(time) => {
                let next = self.log.oldest_first(None).find(|(_, row)| row.created_at >= time);
                next.map_or(self.log.last(), |(position, _)| Position(position.0 - 1))
            }
        }
    }
}
