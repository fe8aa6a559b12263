//! Which lane an event is in, and a count for each lane.

use crate::{Event, Lane, LaneSet, MAX_LANES};

/// The lane of an event: it follows from its key alone, or from its id if it has none.
pub(super) fn lane_of(event: &Event, lanes: u8) -> Lane {
    let hash = match &event.key {
        Some(key) => fnv1a(key.as_bytes()),
        None => fnv1a(event.id.to_string().as_bytes()),
    };
    let lane = hash % u64::from(lanes);
    Lane(u8::try_from(lane).unwrap_or(0))
}

/// FNV-1a, written out because `std`'s hashes may change from one release to the next.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// How many rows of a table are in each lane, so that trouble is seen without looking at the rows.
#[derive(Clone, Debug)]
pub(super) struct LaneCounts {
    rows: [u32; MAX_LANES as usize],
    /// The lanes with at least one row: every read asks for them.
    occupied: LaneSet,
}

impl Default for LaneCounts {
    fn default() -> Self {
        Self { rows: [0; MAX_LANES as usize], occupied: LaneSet::EMPTY }
    }
}

impl LaneCounts {
    pub(super) fn add(&mut self, lane: Lane) {
        self.rows[usize::from(lane.0)] += 1;
        self.occupied.insert(lane);
    }

    pub(super) fn remove(&mut self, lane: Lane) {
        let rows = &mut self.rows[usize::from(lane.0)];
        *rows -= 1;
        if *rows == 0 {
            self.occupied = self.occupied.without(lane);
        }
    }

    pub(super) fn occupied(&self) -> LaneSet {
        self.occupied
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_published() {
        // Test vectors of the authors of FNV.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
