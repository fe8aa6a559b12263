//! The operator's side. CLI, API and dashboard use only this: [`Inspect`] is what a viewer may, [`Admin`] what an operator may.

mod act;
mod audit;
mod dead;
mod diagnose;
mod event;
mod job;
mod look;
mod status;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

pub use self::{
    act::{Act, Edit, Foreseen, MAX_IDS, ResetTo, letters_text},
    audit::{AuditEntry, AuditFilter},
    dead::{DeadFilter, DeadGroup, DeadLetter, ErrorText, MAX_GROUPS, error_line},
    diagnose::{Diagnose, Finding, Verdict, index_names},
    event::{EventFilter, EventStatus, EventSummary, Sort, StatusWord, Timeline, TimelineItem},
    job::{Job, JobKind, JobRequest, JobState, Jobs, MAX_BATCH, MAX_JOBS},
    look::{Extent, Look},
    status::{LaneStatus, MAX_COUNTED, RelayStatus, Sample, Status, SubscriptionStatus},
};
use crate::{Error, EventId, Result};

/// What a viewer can ask. Nothing in here changes anything.
///
/// Every answer is found by indexes and bounded in size, so that it is quick with millions of events in the log: see [`Paged::next`],
/// and the fields that say that a number is estimated.
#[async_trait]
pub trait Inspect: Jobs {
    /// The state of the log, of every subscription, of the relays and of the latest jobs.
    async fn status(&self) -> Result<Status>;

    /// How the lanes of one subscription stand, in lane order.
    async fn lanes(&self, subscription: &str) -> Result<Vec<LaneStatus>>;

    /// Events with their status in one subscription or in all, a page at a time.
    async fn list(&self, filter: &EventFilter) -> Result<Paged<EventSummary>>;

    /// One event with its status in each subscription and all that happened to it.
    async fn show(&self, id: EventId) -> Result<Timeline>;

    /// Dead letters, oldest first, a page at a time.
    async fn dead(&self, filter: &DeadFilter) -> Result<Paged<DeadLetter>>;

    /// Unresolved dead letters counted by subscription, reason, type and error; the largest groups first.
    async fn dead_groups(&self, filter: &DeadFilter) -> Result<Vec<DeadGroup>>;

    /// What operators did, newest first, a page at a time.
    async fn audit(&self, filter: &AuditFilter) -> Result<Paged<AuditEntry>>;
}

/// What an operator can do besides.
#[async_trait]
pub trait Admin: Inspect + Diagnose {
    /// Does something to a subscription or to dead letters, and answers how many of them it concerned; for a job that is started, its
    /// number.
    async fn act(&self, act: &Act, by: &str) -> Result<u64>;

    /// Says what an act would concern, and changes nothing. What has to be done first (a pause, say) does not matter here.
    async fn foresee(&self, act: &Act) -> Result<Foreseen>;
}

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paged<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where to go on, if there may be more. A page can be short, or empty, and still have one: a search for something rare looks at so
    /// many rows at a time and no more.
    pub next: Option<i64>,
}

impl<T> Paged<T> {
    /// A page of what was found, which is one more than fits if there is another page. Without one more it is known where the search
    /// ended: at the end, or at this place.
    pub fn of(mut items: Vec<T>, size: usize, place: impl Fn(&T) -> i64, ended_at: Option<i64>) -> Self {
        let next = if items.len() > size {
            items.truncate(size);
            items.last().map(place)
        } else {
            ended_at
        };
        Self { items, next }
    }
}

/// How many rows a page has if nothing is said, and how many at most.
const PAGE: u32 = 50;
const MAX_PAGE: u32 = 1_000;

/// The size of a page that was asked for.
pub fn page_size(limit: u32) -> Result<usize> {
    if limit > MAX_PAGE {
        return Err(Error::invalid(format!(
            "a page of {limit} is asked for; at most {MAX_PAGE} are possible"
        )));
    }
    let limit = if limit == 0 { PAGE } else { limit };
    Ok(usize::try_from(limit).unwrap_or(usize::MAX))
}

/// A page goes on behind a row, and rows are numbered from 1.
fn check_page(cursor: Option<i64>, limit: u32) -> Result<()> {
    page_size(limit)?;
    match cursor {
        Some(cursor) if cursor < 1 => {
            Err(Error::invalid(format!("no page goes on at {cursor}; use what the page before says as next")))
        }
        _ => Ok(()),
    }
}

/// No database can have such a text in a column that is compared with it.
fn check_texts<'t>(texts: impl IntoIterator<Item = (&'static str, &'t Option<String>)>) -> Result<()> {
    for (name, text) in texts {
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            return Err(Error::invalid(format!("{name} has a zero byte, which no event can have there")));
        }
    }
    Ok(())
}

/// A span of time that has an end before its beginning has nothing in it.
fn check_span(after: Option<crate::Timestamp>, before: Option<crate::Timestamp>) -> Result<()> {
    match (after, before) {
        (Some(after), Some(before)) if after >= before => {
            Err(Error::invalid("the time after which is not before the time before which"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_behind_its_last_item_or_where_the_search_ended() {
        let page = |found: &[i64], ended_at| Paged::of(found.to_vec(), 2, |item| *item, ended_at);

        assert_eq!(page(&[9, 8, 7], None), Paged { items: vec![9, 8], next: Some(8) });
        assert_eq!(page(&[9, 8, 7], Some(1)), Paged { items: vec![9, 8], next: Some(8) });
        assert_eq!(page(&[9, 8], None).next, None);
        assert_eq!(page(&[9], Some(5)), Paged { items: vec![9], next: Some(5) });
    }

    #[test]
    fn a_page_has_a_size_that_can_be_read() {
        assert_eq!([0, 1, 1_000].map(|limit| page_size(limit).ok()), [Some(50), Some(1), Some(1_000)]);
        assert!(page_size(1_001).unwrap_err().to_string().contains("at most 1000"));
        assert!(check_page(Some(0), 1).is_err() && check_page(Some(-1), 1).is_err());
        assert!(check_page(Some(1), 0).is_ok() && check_page(None, 0).is_ok());
    }
}
