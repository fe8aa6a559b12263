//! Rules 3, 4, 6 and 7: who delivered, what the lines tell, how often, and what counts as an attempt.

use std::collections::BTreeMap;

use posthaste_core::{ActKind, EventId, Lane, RelayId, Timestamp};

use super::{Breach, Case, Counts, LineWritten, Rule, loss::is_sent_again};

impl Case<'_> {
    /// Attempts are never more than the failures that the destination blames on the event. They may be fewer: a crash
    /// forgets what was not yet settled.
    pub(super) fn judge_attempts(&self) -> Vec<Breach> {
        let Some(own_failures) = &self.subscription.own_failures else { return Vec::new() };
        let dead = self.subscription.dead.iter().map(|letter| (letter.id, letter.attempts));
        let parked = self.subscription.attempts.iter().map(|(id, attempts)| (*id, *attempts));
        let judge = |(id, attempts): (EventId, u32)| {
            let own = own_failures.get(&id).copied().unwrap_or(0);
            (attempts > own).then(|| {
                let text = format!("{} has {attempts} attempts for {own} failures of its own", self.name(id));
                self.breach(Rule::OwnFailuresOnly, text)
            })
        };
        dead.chain(parked).filter_map(judge).collect()
    }

    pub(super) fn judge_repeats(&self) -> Vec<Breach> {
        let repeats = self.counts().repeats;
        let too_many = self.subscription.repeats_allowed.filter(|allowed| repeats > *allowed);
        let judge = |allowed| {
            let text = format!(
                "{repeats} repeats where {allowed} are allowed; most often: {}",
                self.most_repeated()
            );
            self.breach(Rule::RepeatsBounded, text)
        };
        too_many.map(judge).into_iter().collect()
    }

    fn most_repeated(&self) -> String {
        let most = self.receipts.iter().max_by_key(|(_, receipts)| receipts.len());
        most.map_or_else(String::new, |(id, receipts)| {
            format!("{}, {} times", self.name(*id), receipts.len())
        })
    }

    pub(super) fn counts(&self) -> Counts {
        let repeats = self.receipts.iter().map(|(id, receipts)| {
            let asked_for =
                self.subscription.dead.iter().filter(|letter| letter.id == *id && is_replayed(letter));
            receipts.len().saturating_sub(1 + asked_for.count())
        });
        let unresolved = self.subscription.dead.iter().filter(|letter| letter.resolution.is_none());
        Counts {
            subscription: self.subscription.name.clone(),
            received: count(self.subscription.received.len()),
            delivered: count(self.receipts.len()),
            repeats: count(repeats.sum()),
            dead: count(unresolved.count()),
        }
    }

    /// Numbers follow each other, and the cursor goes forward unless an operator moves it.
    pub(super) fn judge_lines(&self) -> Vec<Breach> {
        let mut breaches = Vec::new();
        for (lane, lines) in self.chains() {
            for pair in lines.windows(2) {
                let (before, line) = (pair[0], pair[1]);
                if line.n != before.n + 1 {
                    let text = format!("lane {lane}: line {} follows on line {}", line.n, before.n);
                    breaches.push(self.breach(Rule::Chain, text));
                }
                if line.cursor < before.cursor && line.kind != ActKind::Reset {
                    let text = format!(
                        "lane {lane}: line {} moves the cursor back from {} to {}",
                        line.n, before.cursor.after, line.cursor.after
                    );
                    breaches.push(self.breach(Rule::Chain, text));
                }
            }
        }
        breaches
    }

    /// Whoever delivers holds the lane at that time, as its lines tell.
    pub(super) fn judge_holders(&self) -> Vec<Breach> {
        let chains = self.chains();
        let judge = |received: &super::Received| {
            let relay = received.relay.as_ref()?;
            let event = self.event(received.id)?;
            let lines = chains.get(&event.lane)?;
            (!is_holder(lines, relay, received.at)).then(|| {
                let text = format!("{} came from {relay} at {:?}", self.name(event.id), received.at);
                self.breach(Rule::OnlyTheHolder, text)
            })
        };
        self.subscription.received.iter().filter_map(judge).collect()
    }

    fn chains(&self) -> BTreeMap<Lane, Vec<&LineWritten>> {
        let mut chains: BTreeMap<Lane, Vec<&LineWritten>> = BTreeMap::new();
        for line in &self.subscription.lines {
            chains.entry(line.lane).or_default().push(line);
        }
        chains
    }
}

/// Whether the relay held the lane at this time. A line counts until the next one, its instant included: within one
/// instant nobody can tell which came first. What lies before the oldest line that is known, or in its instant, cannot be judged.
fn is_holder(lines: &[&LineWritten], relay: &RelayId, at: Timestamp) -> bool {
    if lines.first().is_none_or(|first| at <= first.at) {
        return true;
    }
    let ends = lines.iter().skip(1).map(|line| Some(line.at)).chain([None]);
    lines.iter().zip(ends).any(|(line, end)| {
        let in_force = line.at <= at && end.is_none_or(|end| at <= end);
        in_force && line.kind.holds() && line.relay.as_ref() == Some(relay)
    })
}

fn is_replayed(letter: &posthaste_core::DeadLetter) -> bool {
    is_sent_again(letter) && letter.new_id.is_none()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
