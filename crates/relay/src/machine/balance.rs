//! Which lanes to take and which to give back.

use posthaste_core::{Lane, LaneCensus, RelayId, SubscriptionCensus};

use super::{Machine, Note};
use crate::Moment;

impl Machine {
    /// The lease was renewed, asked for at `deadline` less the sending time; this is how the lanes stand.
    pub fn census(&mut self, now: Moment, me: &RelayId, census: &SubscriptionCensus, deadline: Moment) {
        self.deadline = self.deadline.max(Some(deadline));
        if census.generation != self.generation {
            self.notes.push(Note::Outdated { ours: self.generation, stored: census.generation });
            // To pass what was delivered from memory this relay would skip what another wants. Rather it is repeated.
            for held in self.lanes.values_mut() {
                held.hot.clear();
            }
        }
        self.drop_overtaken(census);
        let serves = !self.stopping && !census.paused && census.generation == self.generation;
        let share = if serves { census.lanes.len().div_ceil(census.relays.max(1) as usize) } else { 0 };
        self.rate.set_share(now, share.min(census.lanes.len()), census.lanes.len());
        self.give_back_surplus(share);
        self.taking.clear();
        if serves && now < deadline {
            self.take_free(me, census, share);
        }
    }

    /// The relay's row is gone: others may have its lanes. What is on the wire comes back to nobody.
    pub fn lost(&mut self) {
        for lane in self.held().iter() {
            self.drop_lane(lane);
            self.notes.push(Note::Fenced(lane));
        }
        self.taking.clear();
        self.deadline = None;
        self.forget_append();
    }

    /// What was read and every place in it is void. The lanes are taken again, from their last lines.
    pub(super) fn lose_place(&mut self, now: Moment) {
        let lanes = self.held();
        lanes.iter().for_each(|lane| self.drop_lane(lane));
        self.notes.push(Note::Voided { lanes: lanes.len() });
        self.renewal_wanted = true;
        self.pace.failed(now);
    }

    /// A line that we did not write is the last one: somebody else has the lane.
    fn drop_overtaken(&mut self, census: &SubscriptionCensus) {
        for line in &census.lanes {
            // While an append of ours is under way the last line may be ours without our knowing.
            let overtaken = self.lanes.get(&line.lane).is_some_and(|held| !held.appending && line.n > held.n);
            if overtaken {
                self.drop_lane(line.lane);
                self.notes.push(Note::Fenced(line.lane));
            }
        }
    }

    fn give_back_surplus(&mut self, share: usize) {
        let kept: Vec<Lane> =
            self.lanes.values().filter(|held| !held.giving_back).map(|held| held.lane).collect();
        let surplus = kept.len().saturating_sub(share);
        for lane in kept.into_iter().rev().take(surplus) {
            self.let_go(lane);
        }
    }

    /// Chooses free lanes up to the share, from a random one on, so that relays that start together seldom collide.
    fn take_free(&mut self, me: &RelayId, census: &SubscriptionCensus, share: usize) {
        let missing = share.saturating_sub(self.lanes.len() + self.lanes_being_taken());
        let is_free = |line: &&LaneCensus| {
            let held_elsewhere = line.holder.as_ref().is_some_and(|holder| holder != me);
            let ours = self.lanes.contains_key(&line.lane) || self.is_being_taken(line.lane);
            !held_elsewhere && !ours && !self.zombies.contains(line.lane)
        };
        let free: Vec<&LaneCensus> = census.lanes.iter().filter(is_free).collect();
        let start = if free.is_empty() { 0 } else { self.rng.usize(..free.len()) };
        self.taking = free
            .iter()
            .cycle()
            .skip(start)
            .take(missing.min(free.len()))
            .map(|line| (*line).clone())
            .collect();
        self.taking.sort_by_key(|line| line.lane);
    }
}
