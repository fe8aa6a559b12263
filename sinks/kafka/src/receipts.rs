//! What Kafka said of each record that is under way. The client's thread writes it down, one lock a record and no
//! allocation; whoever sent a wave is woken once, when nothing of it is missing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rdkafka::error::RDKafkaErrorCode;
use tokio::sync::Notify;

/// What became of a record so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receipt {
    /// Nothing is known yet.
    Pending,
    /// Every replica that must have it has it.
    Acknowledged,
    /// It failed, with this code.
    Failed(RDKafkaErrorCode),
}

/// All waves under way with one producer.
#[derive(Debug, Default)]
pub(crate) struct Receipts {
    slots: Mutex<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    waves: Vec<Option<Open>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Open {
    receipts: Vec<Receipt>,
    missing: usize,
    done: Arc<Notify>,
}

/// A wave's place among the receipts.
#[derive(Debug)]
pub(crate) struct Place {
    slot: usize,
    /// Rung once, when no receipt is missing.
    pub(crate) done: Arc<Notify>,
}

/// A record's number is its place in the wave in the lower bits, and its wave's slot above them.
const INDEX_BITS: u32 = 20;

/// No wave has more records.
pub(crate) const LARGEST_WAVE: usize = 1 << INDEX_BITS;

impl Place {
    /// The number under which this record of the wave is known to the client.
    pub(crate) fn number(&self, index: usize) -> usize {
        debug_assert!(index < LARGEST_WAVE);
        self.slot << INDEX_BITS | index
    }
}

impl Receipts {
    /// Opens a wave of so many records. Each of them must be settled once.
    pub(crate) fn open(&self, count: usize) -> Place {
        let done = Arc::new(Notify::new());
        let wave = Open { receipts: vec![Receipt::Pending; count], missing: count, done: Arc::clone(&done) };
        let mut slots = self.lock();
        let slot = slots.free.pop().unwrap_or_else(|| {
            slots.waves.push(None);
            slots.waves.len() - 1
        });
        slots.waves[slot] = Some(wave);
        Place { slot, done }
    }

    /// Only the first so many records of the wave were sent.
    pub(crate) fn cut(&self, place: &Place, sent: usize) {
        let mut slots = self.lock();
        let Some(wave) = slots.waves.get_mut(place.slot).and_then(Option::as_mut) else { return };
        wave.missing -= wave.receipts.len() - sent;
        wave.receipts.truncate(sent);
        if wave.missing == 0 {
            wave.done.notify_one();
        }
    }

    /// Writes down what became of the record with this number.
    pub(crate) fn settle(&self, number: usize, receipt: Receipt) {
        let (slot, index) = (number >> INDEX_BITS, number & (LARGEST_WAVE - 1));
        let mut slots = self.lock();
        let Some(wave) = slots.waves.get_mut(slot).and_then(Option::as_mut) else { return };
        // A wave that was closed early keeps its slot, without receipts, until the last record is settled: a number must
        // not be used again while the client still has a record under it.
        if let Some(known) = wave.receipts.get_mut(index) {
            *known = receipt;
        }
        wave.missing -= 1;
        if wave.missing == 0 {
            wave.done.notify_one();
            if wave.receipts.is_empty() {
                slots.release(slot);
            }
        }
    }

    /// Ends a wave: what is known of its records by now.
    pub(crate) fn close(&self, place: &Place) -> Vec<Receipt> {
        let mut slots = self.lock();
        let Some(wave) = slots.waves.get_mut(place.slot).and_then(Option::as_mut) else { return Vec::new() };
        let receipts = std::mem::take(&mut wave.receipts);
        if wave.missing == 0 {
            slots.release(place.slot);
        }
        receipts
    }

    fn lock(&self) -> MutexGuard<'_, Slots> {
        // Nothing in here can panic half way.
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn release(&mut self, slot: usize) {
        self.waves[slot] = None;
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Receipt = Receipt::Failed(RDKafkaErrorCode::QueueFull);

    #[tokio::test]
    async fn a_wave_is_done_when_its_last_receipt_is_there() {
        let receipts = Receipts::default();
        let place = receipts.open(2);

        receipts.settle(place.number(1), FULL);
        receipts.settle(place.number(0), Receipt::Acknowledged);

        place.done.notified().await;
        assert_eq!(receipts.close(&place), [Receipt::Acknowledged, FULL]);
        assert_eq!(receipts.open(1).slot, place.slot, "its slot is free again");
    }

    #[tokio::test]
    async fn a_wave_that_was_cut_is_done_with_what_was_sent() {
        let receipts = Receipts::default();
        let place = receipts.open(3);
        receipts.settle(place.number(0), Receipt::Acknowledged);

        receipts.cut(&place, 1);

        place.done.notified().await;
        assert_eq!(receipts.close(&place), [Receipt::Acknowledged]);
    }

    #[test]
    fn a_wave_that_was_closed_early_keeps_its_slot_until_its_records_are_settled() {
        let receipts = Receipts::default();
        let early = receipts.open(2);
        receipts.settle(early.number(0), Receipt::Acknowledged);
        assert_eq!(receipts.close(&early), [Receipt::Acknowledged, Receipt::Pending]);

        let other = receipts.open(1);
        receipts.settle(early.number(1), FULL);

        assert_ne!(other.slot, early.slot);
        assert_eq!(receipts.close(&other), [Receipt::Pending], "a late receipt is nobody else's");
        assert_eq!(receipts.open(1).slot, early.slot);
    }
}
