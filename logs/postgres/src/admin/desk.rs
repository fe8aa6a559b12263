//! The connections on which operators are answered.

use std::{
    pin::pin,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::{Either, select};
use posthaste_core::Result;

use crate::{
    error::failed,
    options::{Purpose, Source},
    slot::{Slot, Taken},
};

/// Two of them: how the log stands is asked each second while somebody looks, and nobody's click shall wait for that.
pub(crate) struct Desks {
    first: Desk,
    second: Desk,
}

struct Desk {
    slot: Slot,
    plans: Plans,
}

impl Desks {
    pub(crate) fn new(source: &Source, cluster: Option<&str>) -> Self {
        let desk = || Desk { slot: Slot::new(source, Purpose::Asking, cluster), plans: Plans::default() };
        Self { first: desk(), second: desk() }
    }

    /// A connection on which all questions see the same moment, and nothing can be changed.
    pub(super) async fn reading(&self) -> Result<Taken<'_>> {
        self.begin(|plans| {
            if plans.are_old() {
                "set transaction isolation level repeatable read, read only; discard plans"
            } else {
                "set transaction isolation level repeatable read, read only"
            }
        })
        .await
    }

    /// The same for what looks at many rows: planned for what is asked for, so that filters that are not set cost nothing.
    pub(super) async fn counting(&self) -> Result<Taken<'_>> {
        let how = "set transaction isolation level repeatable read, read only; set local plan_cache_mode = force_custom_plan";
        self.begin(|_| how).await
    }

    /// A connection on which an act is done, all of it or nothing.
    pub(super) async fn writing(&self) -> Result<Taken<'_>> {
        self.begin(|_| "discard plans").await
    }

    /// On the one that is free first.
    async fn begin(&self, how: impl FnOnce(&Plans) -> &'static str) -> Result<Taken<'_>> {
        let Self { first, second } = self;
        let (desk, turn) = match select(pin!(first.slot.wait()), pin!(second.slot.wait())).await {
            Either::Left((turn, _)) => (first, turn),
            Either::Right((turn, _)) => (second, turn),
        };
        let mut connection = desk.slot.take_from(turn).await?;
        connection.begin().await?;
        sqlx::raw_sql(how(&desk.plans)).execute(&mut *connection).await.map_err(failed("begin"))?;
        Ok(connection)
    }
}

/// How long the plans of questions are kept.
const PLANS_KEPT: Duration = Duration::from_secs(5);

/// When the plans of questions were made. They are made anew every few seconds, and for every act: what was right for an empty log takes minutes on a large
/// one. To make them takes as long as to answer most questions.
#[derive(Default)]
struct Plans(Mutex<Option<Instant>>);

impl Plans {
    /// Whether they are to be forgotten; then those are new that are made from here on.
    fn are_old(&self) -> bool {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let old = made.is_none_or(|made| made.elapsed() >= PLANS_KEPT);
        if old {
            *made = Some(Instant::now());
        }
        old
    }
}
