//! What the database refuses: a constraint or a trigger that does not like a row. Nothing of such an append took effect, and
//! whose fault it is shows when each act is appended by itself. Only the lane of that one waits; the others go on.

use std::time::Duration;

use posthaste_core::{Act, ActKind, Lane};

use super::{Command, Machine, Note, settling::Appending};
use crate::Moment;

/// An act that is refused again and again is tried this seldom: somebody has to mend something first.
const SLOWEST_RETRY: Duration = Duration::from_secs(10);

impl Machine {
    /// The answer to an append that the database refuses as it is: none of its acts took effect.
    pub fn append_refused(&mut self, now: Moment, error: &str) {
        let Some(appending) = self.appending.take().filter(|appending| !appending.forgotten) else { return };
        match &appending.acts[..] {
            [act] => {
                let act = act.clone();
                self.set_aside(now, appending, &act, error);
            }
            _ => self.aside.extend(appending.split()),
        }
    }

    fn set_aside(&mut self, now: Moment, mut refused: Appending, act: &Act, error: &str) {
        let (lane, wait, epoch) = (act.lane, refused.wait, self.next_epoch());
        // A lane that could not be taken is still free: the next census offers it again.
        let held = self.lanes.get_mut(&lane).filter(|_| act.kind != ActKind::Taken);
        let first = held.as_ref().is_some_and(|held| !held.refused);
        self.notes.push(Note::Refused { lane, error: error.to_owned(), first });
        if let Some(held) = held {
            held.refuse(act, epoch);
            refused.again_at = Some(now + wait);
            refused.wait = (wait * 2).min(SLOWEST_RETRY);
            self.aside.push(refused);
        }
    }

    /// The next act that is to be appended by itself now, if there is one.
    pub(super) fn poll_aside(&mut self, now: Moment) -> Option<Command> {
        let is_due = |aside: &Appending| aside.again_at.is_none_or(|at| at <= now);
        let index = self.aside.iter().position(is_due)?;
        let mut next = self.aside.remove(index);
        next.again_at = None;
        let acts = next.acts.clone();
        self.appending = Some(next);
        Some(Command::Append(acts))
    }

    /// When the next of these is to be appended.
    pub(super) fn next_aside(&self) -> Option<Moment> {
        self.aside.iter().map(|aside| aside.again_at.unwrap_or_default()).min()
    }

    /// The lane is not held any more, and so there is nothing to say about it.
    pub(super) fn drop_aside(&mut self, lane: Lane) {
        self.aside.retain(|aside| aside.acts.iter().all(|act| act.lane != lane));
    }
}
