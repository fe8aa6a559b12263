//! New event ids: UUIDv7, growing within the process even when its clock does not.

use std::sync::{Mutex, PoisonError};

use posthaste_core::{Clock, EventId, Stamp, Timestamp};
use uuid::{ContextV7, Uuid};

pub(crate) struct Ids {
    context: Mutex<ContextV7>,
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self { context: Mutex::new(ContextV7::new()) }
    }

    /// An id and the time, for one event.
    pub(crate) fn stamp(&self, clock: &dyn Clock) -> Stamp {
        let now = clock.now();
        Stamp { id: self.next(now), now }
    }

    fn next(&self, now: Timestamp) -> EventId {
        const MICROS: u64 = 1_000_000;
        let micros = u64::try_from(now.0).unwrap_or(0);
        let nanos = u32::try_from(micros % MICROS * 1_000).unwrap_or(0);
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        Uuid::new_v7(uuid::Timestamp::from_unix(&*context, micros / MICROS, nanos)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_although_the_clock_stands_still_or_goes_back() {
        let ids = Ids::new();
        let times =
            [1_700_000_000_000_000, 1_700_000_000_000_000, 1_700_000_000_000_000, 1_699_999_999_000_000];
        let made: Vec<EventId> = times.map(|time| ids.next(Timestamp(time))).into();

        assert!(made.is_sorted() && made.windows(2).all(|pair| pair[0] != pair[1]), "{made:?}");
        assert_eq!(Uuid::from(made[0]).get_version_num(), 7);
    }
}
