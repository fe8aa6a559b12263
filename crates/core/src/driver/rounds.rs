//! Acts that one statement can carry out.

use crate::{Act, Appended, Lane, LaneSet};

/// Acts on different lanes, each with its place among all acts. A statement does not see the lines that it adds itself, so two
/// acts on one lane need two rounds; there is one, unless a relay does two things to a lane at once.
pub struct Round<'a> {
    acts: Vec<(usize, &'a Act)>,
}

/// All acts, those of one lane in their order, in as few rounds as that takes.
#[must_use]
pub fn rounds(acts: &[Act]) -> Vec<Round<'_>> {
    let mut rounds: Vec<Round<'_>> = Vec::new();
    let mut seen: Vec<LaneSet> = Vec::new();
    for (place, act) in acts.iter().enumerate() {
        let free = seen.iter().position(|lanes| !lanes.contains(act.lane)).unwrap_or(seen.len());
        if free == seen.len() {
            seen.push(LaneSet::EMPTY);
            rounds.push(Round { acts: Vec::with_capacity(acts.len()) });
        }
        seen[free].insert(act.lane);
        rounds[free].acts.push((place, act));
    }
    rounds
}

impl<'a> Round<'a> {
    /// The acts, in the order in which they were given.
    pub fn acts(&self) -> impl ExactSizeIterator<Item = &'a Act> {
        self.acts.iter().map(|(_, act)| *act)
    }

    /// Their lanes.
    pub fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.acts().map(|act| act.lane)
    }

    /// One value of each act, as an array for the database.
    pub fn each<T>(&self, value: impl Fn(&Act) -> T) -> Vec<T> {
        self.acts().map(value).collect()
    }

    /// What is left when these lanes are done, or lost.
    #[must_use]
    pub fn without(&self, lanes: LaneSet) -> Round<'a> {
        let left = self.acts.iter().filter(|(_, act)| !lanes.contains(act.lane));
        Round { acts: left.copied().collect() }
    }

    /// Notes that the acts on these lanes are done.
    pub fn answer(&self, done: LaneSet, answers: &mut [Appended]) {
        for (place, act) in &self.acts {
            if done.contains(act.lane) {
                answers[*place] = Appended::Done;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ActKind, Cursor};

    fn act(lane: u8, n: i64) -> Act {
        Act {
            lane: Lane(lane),
            n,
            kind: ActKind::Settled,
            cursor: Cursor::default(),
            delivered: 0,
            changes: Vec::new(),
        }
    }

    #[test]
    fn a_lane_is_once_in_a_round_and_keeps_its_order() {
        let acts = [act(1, 5), act(2, 7), act(1, 6), act(3, 1), act(1, 7)];
        let numbers: Vec<_> =
            rounds(&acts).iter().map(|round| round.each(|act| (act.lane.0, act.n))).collect();
        assert_eq!(numbers, [vec![(1, 5), (2, 7), (3, 1)], vec![(1, 6)], vec![(1, 7)]]);
    }

    #[test]
    fn an_answer_is_at_the_place_of_its_act() {
        let acts = [act(1, 5), act(2, 7), act(1, 6)];
        let [first, second] = &rounds(&acts)[..] else { panic!("two rounds") };
        let done = |lane| [Lane(lane)].into_iter().collect();
        let mut answers = [Appended::Fenced; 3];
        first.answer(done(2), &mut answers);
        second.answer(done(1), &mut answers);
        assert_eq!(answers, [Appended::Fenced, Appended::Done, Appended::Done]);
        assert_eq!(first.without(done(2)).each(|act| act.n), [5]);
    }
}
