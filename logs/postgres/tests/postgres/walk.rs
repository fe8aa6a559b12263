//! A relay that a test moves by hand: it takes lanes, reads pages and settles them.

use std::collections::BTreeMap;

use posthaste_core::{
    Act, ActKind, Appended, Cursor, Entry, ErrorKind, Lane, LaneSet, Limit, Log, Page, Position, Read,
    RelayId, Result,
};
use posthaste_postgres::PostgresLog;

use crate::fixture::{SUB, everything, hold};

pub(crate) struct Walk {
    log: PostgresLog,
    relay: RelayId,
    lanes: BTreeMap<Lane, Standing>,
}

/// The last line of a lane.
#[derive(Clone)]
struct Standing {
    n: i64,
    cursor: Cursor,
}

impl Walk {
    /// Takes all lanes, from where their last lines say.
    pub(crate) async fn take(log: &PostgresLog, relay_id: &str) -> Self {
        let census = hold(log, relay_id).await;
        let lanes = census.subscriptions[0].lanes.iter();
        let lanes = lanes.map(|line| (line.lane, Standing { n: line.n, cursor: line.cursor.clone() }));
        let mut walk = Self { log: log.clone(), relay: RelayId(relay_id.to_owned()), lanes: lanes.collect() };
        let acts: Vec<Act> = walk.lanes.keys().map(|lane| walk.act(*lane, ActKind::Taken)).collect();
        assert!(walk.append(acts).await.iter().all(|answer| *answer == Appended::Done));
        walk
    }

    /// Where all lanes stand.
    pub(crate) fn cursor(&self) -> Cursor {
        let mut cursors = self.lanes.values().map(|standing| &standing.cursor);
        let first = cursors.next().unwrap();
        assert!(cursors.all(|other| other == first), "the lanes stand at different places");
        first.clone()
    }

    /// Reads this many entries at most, of the lanes that are furthest behind, up to where the next ones stand.
    pub(crate) async fn read(&self, entries: usize) -> Page {
        let read = self.next_read(entries);
        again(|| self.log.read(&read)).await
    }

    /// What to read next, as a relay would.
    pub(crate) fn next_read(&self, entries: usize) -> Read {
        let after = self.lanes.values().map(|standing| &standing.cursor).min().unwrap().clone();
        let until = self.lanes.values().map(|standing| &standing.cursor).filter(|cursor| **cursor > after);
        Read {
            lanes: self.lanes_at(&after),
            until: until.min().cloned(),
            after,
            limit: Limit { entries, bytes: 10_000_000 },
            ..everything()
        }
    }

    fn lanes_at(&self, cursor: &Cursor) -> LaneSet {
        self.lanes.iter().filter(|(_, standing)| standing.cursor == *cursor).map(|(lane, _)| *lane).collect()
    }

    /// Settles the lanes that are furthest behind up to here, and answers what became of it.
    pub(crate) async fn settle(&mut self, to: &Cursor) -> Vec<Appended> {
        let after = self.lanes.values().map(|standing| &standing.cursor).min().unwrap().clone();
        self.settle_lanes(self.lanes_at(&after), to).await
    }

    /// Settles these lanes up to here.
    pub(crate) async fn settle_lanes(&mut self, lanes: LaneSet, to: &Cursor) -> Vec<Appended> {
        let settled = |lane| Act { cursor: to.clone(), ..self.act(lane, ActKind::Settled) };
        self.append(lanes.iter().map(settled).collect()).await
    }

    /// Reads and settles until there is nothing more; the positions of what came, in the order in which it came.
    pub(crate) async fn drain(&mut self) -> Vec<i64> {
        let mut seen = Vec::new();
        loop {
            let page = self.read(1_000).await;
            assert!(!page.void && !page.stale);
            seen.extend(positions(&page.entries));
            if page.end == self.next_read(1).after && !page.more {
                return seen;
            }
            assert!(self.settle(&page.end).await.iter().all(|answer| *answer == Appended::Done));
        }
    }

    fn act(&self, lane: Lane, kind: ActKind) -> Act {
        let Standing { n, cursor } = self.lanes[&lane].clone();
        Act { lane, n: n + 1, kind, cursor, delivered: 0, changes: Vec::new() }
    }

    async fn append(&mut self, acts: Vec<Act>) -> Vec<Appended> {
        let answers = again(|| self.log.append(SUB, &self.relay, &acts)).await;
        for (act, answer) in acts.into_iter().zip(&answers) {
            if *answer == Appended::Done {
                self.lanes.insert(act.lane, Standing { n: act.n, cursor: act.cursor });
            }
        }
        answers
    }
}

/// Does it once more if the server has gone meanwhile: the connection that broke is not used again, and appending twice is
/// appending once.
pub(crate) async fn again<T, F: Future<Output = Result<T>>>(work: impl Fn() -> F) -> T {
    match work().await {
        Err(error) if error.kind() == ErrorKind::Unavailable => work().await.unwrap(),
        answer => answer.unwrap(),
    }
}

/// Where these entries are.
pub(crate) fn positions(entries: &[Entry]) -> Vec<i64> {
    entries.iter().map(|entry| entry.position.0).collect()
}

/// The cursor behind the last of these entries.
pub(crate) fn behind_last(page: &Page) -> Cursor {
    page.start.moved_to(page.entries.last().map_or(Position(0), |entry| entry.position))
}
