//! Where each entry of a batch goes, and which entries may be under way at the same time.

use std::{
    collections::{HashMap, HashSet, hash_map},
    sync::Arc,
};

use posthaste_core::Entry;

use crate::{
    receipts::LARGEST_WAVE,
    tally::{State, Tally},
    topics::{Stamp, Topic},
};

/// The topic and partition of each entry that has one.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) topics: Vec<Arc<Topic>>,
    /// For keyless entries, a partition of each topic.
    pub(crate) any: Vec<usize>,
    pub(crate) of: Vec<Option<Route>>,
}

/// Where an entry goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    /// Its place among the topics of the batch.
    pub(crate) topic: usize,
    pub(crate) partition: usize,
}

impl Routes {
    /// Adds a topic, and answers with its place.
    pub(crate) fn add_topic(&mut self, topic: Arc<Topic>) -> usize {
        self.any.push(topic.next_partition());
        self.topics.push(topic);
        self.topics.len() - 1
    }

    /// The route of an entry to a topic of the batch.
    pub(crate) fn to(&self, topic: usize, entry: &Entry) -> Route {
        let partition = match entry.event.key.as_deref() {
            Some(key) => self.topics[topic].partition_of(key),
            None => self.any[topic],
        };
        Route { topic, partition }
    }

    pub(crate) fn topic_of(&self, index: usize) -> Option<(&Topic, usize)> {
        let route = self.of[index]?;
        Some((&self.topics[route.topic], route.partition))
    }

    /// The entries to send next, many at a time: of a key only what the broker keeps in order by itself. That is what goes
    /// to one partition which this client has written to before; see [`Topic::is_warm`].
    pub(crate) fn next_wave<'b>(&self, batch: &'b [Entry], tally: &Tally<'b>, stamp: Stamp) -> Vec<usize> {
        // Taken down once: a partition that gets warm meanwhile must not let later entries of a key pass earlier ones.
        let warm: Vec<Vec<bool>> = self.topics.iter().map(|topic| topic.warmth(stamp)).collect();
        let one_topic = self.topics.len() == 1;
        let mut keys: HashMap<&str, Option<Route>> = HashMap::new();
        let mut wave = Vec::with_capacity(batch.len());
        for index in tally.ready(&State::Waiting) {
            let Some(route) = self.of[index] else { continue };
            let is_warm = warm[route.topic][route.partition];
            let goes = match batch[index].event.key.as_deref() {
                None => true,
                Some(_) if one_topic && is_warm => true,
                Some(key) => goes_along(keys.entry(key), route, is_warm),
            };
            if goes {
                wave.push(index);
            }
        }
        wave.truncate(LARGEST_WAVE);
        wave
    }

    /// The suspects to send next, one of each key.
    pub(crate) fn next_suspects<'b>(&self, batch: &'b [Entry], tally: &Tally<'b>) -> Vec<usize> {
        let mut keys = HashSet::new();
        tally
            .ready(&State::Suspect)
            .filter(|index| batch[*index].event.key.as_deref().is_none_or(|key| keys.insert(key)))
            .take(LARGEST_WAVE)
            .collect()
    }
}

/// Whether an entry goes in the same wave as those of its key before it. Once one has to wait, all behind it do.
fn goes_along(key: hash_map::Entry<'_, &str, Option<Route>>, route: Route, is_warm: bool) -> bool {
    match key {
        hash_map::Entry::Vacant(first) => {
            first.insert(Some(route));
            true
        }
        hash_map::Entry::Occupied(mut before) => {
            let goes = is_warm && *before.get() == Some(route);
            if !goes {
                before.insert(None);
            }
            goes
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use posthaste_core::{
        Event, EventId, EventRules, Lane, Origin, Position, Stamp as EventStamp, Timestamp,
    };

    use super::*;
    use crate::{fault::Verdict, topics::Topics};

    /// Each word is an entry: its key, or `_` for none, and the number of its topic.
    struct Bench {
        batch: Vec<Entry>,
        routes: Routes,
        topics: Topics,
    }

    fn bench(words: &str, topics: usize) -> Bench {
        let now = Instant::now();
        let mut routes = Routes::default();
        for _ in 0..topics {
            routes.add_topic(Arc::new(Topic::new("t", &[true; 4], now)));
        }
        let batch: Vec<Entry> = words.split(' ').map(|word| entry(&word[..1])).collect();
        let of = words.split(' ').zip(&batch);
        routes.of = of.map(|(word, entry)| Some(routes.to(word[1..].parse().unwrap(), entry))).collect();
        Bench { batch, routes, topics: Topics::new(now) }
    }

    fn entry(key: &str) -> Entry {
        let draft = Event::of("a").json(&1).unwrap();
        let draft = if key == "_" { draft } else { draft.key(key) };
        let stamp = EventStamp { id: EventId::from_bytes([1; 16]), now: Timestamp(0) };
        Entry {
            position: Position(1),
            lane: Lane(0),
            event: draft.build(&EventRules::default(), stamp).unwrap(),
            origin: Origin::Log,
            attempts: 0,
            blocked: false,
            delayed: false,
            defect: None,
        }
    }

    impl Bench {
        fn stamp(&self) -> Stamp {
            self.topics.stamp(1, Instant::now())
        }

        fn warm_up(&self) {
            for index in 0..self.batch.len() {
                let (topic, partition) = self.routes.topic_of(index).unwrap();
                topic.warm(partition, self.stamp());
            }
        }

        /// The waves in which everything is delivered.
        fn waves(&self) -> Vec<Vec<usize>> {
            let mut tally = Tally::new(&self.batch);
            let mut waves = Vec::new();
            loop {
                let wave = self.routes.next_wave(&self.batch, &tally, self.stamp());
                if wave.is_empty() {
                    return waves;
                }
                for index in &wave {
                    tally.note(*index, Verdict::Delivered);
                }
                waves.push(wave);
            }
        }
    }

    #[test]
    fn what_goes_to_a_partition_that_was_written_before_goes_at_once() {
        let bench = bench("a0 b0 a0 _0 a0 b0", 1);
        bench.warm_up();

        assert_eq!(bench.waves(), [[0, 1, 2, 3, 4, 5]]);
    }

    #[test]
    fn of_a_key_one_is_under_way_where_nothing_was_written_before() {
        let bench = bench("a0 b0 a0 _0 a0 _0", 1);

        assert_eq!(bench.waves(), [vec![0, 1, 3, 5], vec![2], vec![4]]);
    }

    #[test]
    fn a_key_is_under_way_to_one_topic_at_a_time_and_keeps_its_order() {
        let bench = bench("a0 a0 a1 a0 b1 a1 _1", 2);
        bench.warm_up();

        assert_eq!(bench.waves(), [vec![0, 1, 4, 6], vec![2], vec![3], vec![5]]);
    }

    #[test]
    fn suspects_go_one_of_each_key() {
        let bench = bench("a0 b0 a0 _0 _0", 1);
        let mut tally = Tally::new(&bench.batch);
        for index in 0..bench.batch.len() {
            tally.note(index, Verdict::Suspect);
        }

        assert_eq!(bench.routes.next_suspects(&bench.batch, &tally), [0, 1, 3, 4]);
    }
}
