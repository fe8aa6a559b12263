//! How long events waited, from the moment a commit returned until somebody had them.

use std::{collections::HashMap, time::Instant};

use hdrhistogram::Histogram;
use posthaste::{Error, ErrorKind, EventId, Result};

/// What is slower counts as this, in microseconds: ten minutes.
const SLOWEST: u64 = 600_000_000;

/// The waits in microseconds, of all events that were both committed and heard of.
pub(crate) fn between(
    committed: &HashMap<EventId, Instant>,
    heard: impl IntoIterator<Item = (EventId, Instant)>,
) -> Result<Histogram<u64>> {
    let histogram = Histogram::<u64>::new_with_bounds(1, SLOWEST, 3);
    let mut histogram = histogram
        .map_err(|error| Error::new(ErrorKind::Unexpected, "make a histogram").with_source(error))?;
    for (id, at) in heard {
        if let Some(returned) = committed.get(&id) {
            let micros = at.saturating_duration_since(*returned).as_micros();
            histogram.saturating_record(u64::try_from(micros).unwrap_or(u64::MAX).max(1));
        }
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn slow_ones_count_as_slow() {
        let now = Instant::now();
        let id = |number| EventId::from_bytes([number; 16]);
        let committed = HashMap::from([(id(1), now), (id(2), now)]);
        let heard =
            [(id(1), now + Duration::from_secs(3)), (id(2), now + Duration::from_micros(7)), (id(3), now)];

        let waits = between(&committed, heard).unwrap();

        assert_eq!((waits.len(), waits.min()), (2, 7));
        assert!((2_999_000..=3_002_000).contains(&waits.max()), "{}", waits.max());
    }
}
