//! Appending lines: takes, settlements and hand-overs of many lanes, gathered in one statement, one at a time.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Act, ActKind, Appended, Change, Due, Lane, LaneCensus};

use super::{Command, Machine, Note, lane::HeldLane};
use crate::Moment;

/// After a failed append the same acts are appended again after this long, and twice as long each time.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const SLOWEST_RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Appending {
    pub(super) acts: Arc<[Act]>,
    /// The lanes to take, with their last lines; what else is in the acts is of lanes held.
    taking: Vec<LaneCensus>,
    /// The answer was lost or the database failed: to be appended again, unchanged, then.
    pub(super) again_at: Option<Moment>,
    /// How long to wait after the next failure.
    pub(super) wait: Duration,
    /// The relay has lost its lease in between: the answer is of no interest.
    pub(super) forgotten: bool,
}

impl Appending {
    fn new(acts: Vec<Act>, taking: Vec<LaneCensus>) -> Self {
        Self { acts: acts.into(), taking, again_at: None, wait: FIRST_RETRY, forgotten: false }
    }

    /// Each act by itself.
    pub(super) fn split(self) -> impl Iterator<Item = Self> {
        let Self { acts, taking, .. } = self;
        let single = move |act: &Act| {
            let taking = taking.iter().filter(|census| census.lane == act.lane).cloned().collect();
            Self::new(vec![act.clone()], taking)
        };
        acts.iter().map(single).collect::<Vec<_>>().into_iter()
    }
}

impl Machine {
    /// The answer to an append; `None` if there was none, and nobody knows whether it took effect.
    pub fn appended(&mut self, now: Moment, answer: Option<Vec<Appended>>) {
        let Some(appending) = self.appending.as_mut() else { return };
        if appending.forgotten {
            self.appending = None;
            return;
        }
        let Some(answers) = answer else {
            appending.again_at = Some(now + appending.wait.min(SLOWEST_RETRY));
            appending.wait = (appending.wait * 2).min(SLOWEST_RETRY.max(appending.wait));
            return;
        };
        let Some(Appending { acts, taking, .. }) = self.appending.take() else { return };
        // A log that answers for fewer acts than it was given leaves the others unknown: who gives those lanes up
        // learns from the next census how they stand.
        let answers = answers.into_iter().chain(std::iter::repeat(Appended::Fenced));
        for (act, answer) in acts.iter().zip(answers) {
            match answer {
                Appended::Done => {
                    if self.lanes.get(&act.lane).is_some_and(|held| held.refused) {
                        self.notes.push(Note::Accepted(act.lane));
                    }
                    self.line_written(now, act, &taking);
                }
                Appended::Fenced => self.line_refused(act),
            }
        }
    }

    fn line_written(&mut self, now: Moment, act: &Act, taking: &[LaneCensus]) {
        let epoch = self.next_epoch();
        match act.kind {
            ActKind::Taken => {
                let Some(census) = taking.iter().find(|census| census.lane == act.lane) else { return };
                let mut held = HeldLane::taken(census, act.n, epoch);
                held.giving_back = self.stopping;
                self.lanes.insert(act.lane, held);
                self.notes.push(Note::Taken(act.lane));
                self.pace.ring();
            }
            ActKind::GivenBack => {
                self.lanes.remove(&act.lane);
                self.notes.push(Note::GivenBack(act.lane));
            }
            ActKind::Settled | ActKind::Reset => {
                if self.lanes.get_mut(&act.lane).is_some_and(|held| held.lined(act, epoch)) {
                    self.pace.ring();
                }
                self.note_due(now, act);
            }
        }
    }

    fn line_refused(&mut self, act: &Act) {
        if act.kind != ActKind::Taken {
            self.drop_lane(act.lane);
            self.notes.push(Note::Fenced(act.lane));
        }
    }

    /// What was parked just now falls due at a time we know, by our own clock near enough: the log judges it again.
    fn note_due(&mut self, now: Moment, act: &Act) {
        for change in &act.changes {
            match change {
                Change::Park(parked) => match parked.due {
                    Due::In(wait) => self.next_due = earlier(self.next_due, now + wait),
                    // How far off that is only the log can tell; the next read brings it.
                    Due::Delayed(_) => self.pace.ring(),
                },
                // What waited behind a dead head may go.
                Change::Bury(_) => self.pace.ring(),
                Change::Unpark(_) => {}
            }
        }
    }

    /// The append to be made now, if there is one. All that is done goes along, also what could wait.
    pub(super) fn poll_append(&mut self, now: Moment) -> Option<Command> {
        if let Some(appending) = &mut self.appending {
            appending.again_at.take_if(|at| *at <= now)?;
            return Some(Command::Append(Arc::clone(&appending.acts)));
        }
        if let Some(command) = self.poll_aside(now) {
            return Some(command);
        }
        let due = self.next_settlement().is_some_and(|at| at <= now);
        let returns = self.lanes.values().any(HeldLane::can_be_given_back);
        let moves = self.next_move <= now;
        if self.taking.is_empty() && !due && !returns && !moves {
            return None;
        }
        let taking = std::mem::take(&mut self.taking);
        let mut acts: Vec<Act> = taking.iter().map(take_act).collect();
        acts.extend(self.lanes.values_mut().filter_map(HeldLane::next_act));
        if moves {
            acts.extend(self.lanes.values_mut().filter_map(HeldLane::move_act));
            self.next_move = now + self.settings.move_interval;
        }
        if acts.is_empty() {
            return None;
        }
        // Databases that lock what they insert must be asked in one order by all.
        acts.sort_by_key(|act| act.lane);
        let appending = self.appending.insert(Appending::new(acts, taking));
        Some(Command::Append(Arc::clone(&appending.acts)))
    }

    /// When the next settlement is due, if nothing is being appended.
    pub(super) fn next_settlement(&self) -> Option<Moment> {
        if let Some(appending) = &self.appending {
            return appending.again_at;
        }
        let (room, interval) = (self.settings.batch, self.settings.settle_interval);
        let settlements = self.lanes.values().filter_map(|held| held.settles_at(room, interval));
        settlements.chain(self.next_aside()).min()
    }

    /// Whether a take of this lane is on its way: then it may be ours already without our knowing.
    pub(super) fn is_being_taken(&self, lane: Lane) -> bool {
        self.takes_under_way().any(|census| census.lane == lane)
    }

    pub(super) fn lanes_being_taken(&self) -> usize {
        self.takes_under_way().count()
    }

    fn takes_under_way(&self) -> impl Iterator<Item = &LaneCensus> {
        self.appending.iter().chain(&self.aside).flat_map(|appending| &appending.taking)
    }

    pub(super) fn forget_append(&mut self) {
        self.aside.clear();
        if let Some(appending) = &mut self.appending {
            // If it waits to be repeated nothing is under way, and there will be no answer.
            if appending.again_at.is_some() {
                self.appending = None;
            } else {
                appending.forgotten = true;
            }
        }
    }
}

fn take_act(census: &LaneCensus) -> Act {
    Act {
        lane: census.lane,
        n: census.n + 1,
        kind: ActKind::Taken,
        cursor: census.cursor.clone(),
        delivered: 0,
        changes: Vec::new(),
    }
}

pub(super) fn earlier(due: Option<Moment>, at: Moment) -> Option<Moment> {
    Some(due.map_or(at, |due| due.min(at)))
}
