//! A wave: records that are under way together, from the first send until something is known of each, or time is over.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste_core::{Entry, Fault};
use posthaste_envelope::Envelope;
use rdkafka::{
    error::RDKafkaErrorCode,
    message::{Header, OwnedHeaders},
};
use tokio::time::{sleep, sleep_until, timeout, timeout_at};

use crate::{
    producer::{Producer, Record, SWEEP},
    receipts::{Place, Receipt},
};

/// Until when records may be sent, and until when their receipts are waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) began: Instant,
    /// From here on nothing leaves the client.
    pub(crate) stop: Instant,
    /// What was on the wire by then has until here to be acknowledged.
    pub(crate) end: Instant,
    /// It is so short that a destination which does not answer in it need not be down.
    pub(crate) is_short: bool,
}

/// Whoever does not answer for so long is taken to be down.
const FAIR: Duration = Duration::from_secs(3);

/// After so long a client whose queue is full is asked again.
const FULL: Duration = Duration::from_millis(5);

/// How long before its time is over a wave is stopped.
const MARGIN: Duration = Duration::from_millis(250);

impl Deadline {
    /// The deadline of what may last until then, but no longer than the limit.
    pub(crate) fn new(began: Instant, until: Instant, limit: Duration) -> Self {
        let time = until.saturating_duration_since(began).min(limit);
        let margin = MARGIN.min(time / 4);
        let is_short = time < FAIR.min(limit);
        Self { began, stop: began + (time - margin), end: began + (time - margin / 4), is_short }
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.stop
    }

    /// The time left, at least a moment.
    pub(crate) fn left(&self) -> Duration {
        self.stop.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
    }
}

/// See the [module](self). If it is dropped before its end, its client is retired: nobody would hear of the receipts, and
/// what is queued must not be sent some time later.
#[derive(Debug)]
pub(crate) struct Wave {
    producer: Arc<Producer>,
    place: Place,
    sent: usize,
    ended: bool,
}

/// Why a wave ended.
#[derive(Debug, PartialEq)]
pub(crate) enum End {
    /// Something is known of every record.
    Complete,
    /// Its time was over.
    Late,
    /// The cluster does not want us, and why.
    Refused(String),
}

impl Wave {
    /// Opens a wave of at most so many records.
    pub(crate) fn open(producer: Arc<Producer>, most: usize) -> Self {
        let place = producer.desk().receipts.open(most);
        Self { producer, place, sent: 0, ended: false }
    }

    /// Sends a record. Waits while the client's queue is full, but not for ever.
    pub(crate) async fn send(
        &mut self,
        mut record: Record<'_>,
        deadline: &Deadline,
    ) -> Result<(), RDKafkaErrorCode> {
        record.delivery_opaque = self.place.number(self.sent);
        loop {
            match self.producer.send(record) {
                Ok(()) => {
                    self.sent += 1;
                    return Ok(());
                }
                Err((RDKafkaErrorCode::QueueFull, back)) if !deadline.is_over() => {
                    record = back;
                    sleep(FULL).await;
                }
                Err((RDKafkaErrorCode::Fatal, _)) => {
                    // The client's thread will see it as well, but whoever comes next must not get this client again.
                    self.producer.retire(deadline.end);
                    return Err(RDKafkaErrorCode::Fatal);
                }
                Err((code, _)) => return Err(code),
            }
        }
    }

    /// Waits for the receipts of all records that were sent, up to the deadline.
    pub(crate) async fn end(mut self, deadline: &Deadline) -> (Vec<Receipt>, End) {
        let desk = self.producer.desk();
        desk.receipts.cut(&self.place, self.sent);
        let end = tokio::select! {
            biased;
            () = self.place.done.notified() => End::Complete,
            reason = desk.refused() => End::Refused(reason),
            () = sleep_until(deadline.stop.into()) => End::Late,
        };
        if end != End::Complete {
            self.producer.retire(deadline.end);
            // What is taken back from the wire comes a moment after the end.
            let last = deadline.end + deadline.end.saturating_duration_since(deadline.stop) / 4;
            let _ = timeout_at(last.into(), self.sweep_until_done()).await;
        }
        self.ended = true;
        (desk.receipts.close(&self.place), end)
    }

    async fn sweep_until_done(&self) {
        while timeout(SWEEP, self.place.done.notified()).await.is_err() {
            self.producer.sweep();
        }
    }
}

impl Drop for Wave {
    fn drop(&mut self) {
        if !self.ended {
            let receipts = &self.producer.desk().receipts;
            receipts.cut(&self.place, self.sent);
            self.producer.retire(Instant::now());
            receipts.close(&self.place);
        }
    }
}

/// The record of an entry: key, value and headers by the envelope.
pub(crate) fn record<'a>(
    envelope: &Envelope,
    entry: &'a Entry,
    topic: &'a str,
    partition: usize,
    buffer: &'a mut Vec<u8>,
) -> Result<Record<'a>, Fault> {
    let value = envelope.value(entry, buffer)?;
    let mut headers = None;
    envelope.headers(entry, &value, |name, text| {
        let so_far = headers.take().unwrap_or_else(|| OwnedHeaders::new_with_capacity(USUAL_HEADERS));
        headers = Some(so_far.insert(Header { key: name, value: Some(text.as_bytes()) }));
    });
    let partition = i32::try_from(partition)
        .map_err(|_| Fault::permanent(format!("topic {topic:?} has too many partitions")))?;
    Ok(Record {
        topic,
        partition: Some(partition),
        payload: value.bytes,
        key: entry.event.key.as_deref().map(str::as_bytes),
        timestamp: None,
        headers,
        delivery_opaque: 0,
    })
}

/// Room for so many headers is made at once.
const USUAL_HEADERS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wave_stops_before_its_time_is_over() {
        let began = Instant::now();
        let cases = [(10_000, 60_000, 9_750, 9_938), (60_000, 10_000, 9_750, 9_938), (100, 10_000, 75, 94)];
        for (until, limit, stop, end) in cases {
            let deadline =
                Deadline::new(began, began + Duration::from_millis(until), Duration::from_millis(limit));
            let millis = |at: Instant| (at - began).as_micros().div_ceil(1_000);

            assert_eq!((millis(deadline.stop), millis(deadline.end)), (stop, end));
        }
        assert!(Deadline::new(began, began, Duration::MAX).is_over());
    }

    #[test]
    fn who_had_no_time_to_answer_is_not_down() {
        let began = Instant::now();
        let is_short = |until, limit| {
            Deadline::new(began, began + Duration::from_millis(until), Duration::from_millis(limit)).is_short
        };

        assert!(is_short(2_999, 10_000), "the lease ends");
        assert!(!is_short(3_000, 10_000));
        assert!(!is_short(60_000, 500), "so the timeout was set");
        assert!(is_short(499, 500));
    }
}
