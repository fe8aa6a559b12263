//! The step itself: a sink around a sink.

use std::{mem, sync::Arc, time::Instant};

use async_trait::async_trait;
use posthaste_core::{Clock, Delivery, Entry, Fault, Sink, SystemClock, Timestamp};

use crate::{
    export::Recorder,
    span::{Begun, End, Labels, Maker},
    traceparent::{self, TRACEPARENT, Traceparent, header},
};

/// A sink whose deliveries have spans, where their events ask for one.
pub struct TracedSink {
    sink: Arc<dyn Sink>,
    maker: Maker,
    recorder: Recorder,
}

impl TracedSink {
    pub(crate) fn new(sink: Arc<dyn Sink>, labels: Labels, recorder: Recorder) -> Self {
        Self { sink, maker: Maker::new(labels), recorder }
    }

    /// The spans that begin with this batch. None takes no memory.
    fn begin(&self, batch: &[Entry]) -> Vec<Begun> {
        let parent = |entry: &Entry| {
            let parent = Traceparent::parse(header(&entry.event, TRACEPARENT)?)?;
            (parent.is_sampled() && self.recorder.wants(parent)).then_some(parent)
        };
        let begun = batch.iter().enumerate().filter_map(|(index, entry)| {
            let parent = parent(entry)?;
            // 0 is no id.
            Some(Begun { index, parent, id: fastrand::u64(1..) })
        });
        begun.collect()
    }
}

#[async_trait]
impl Sink for TracedSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let begun = self.begin(batch);
        if begun.is_empty() {
            return self.sink.deliver(batch, until).await;
        }
        // A sink takes one slice, so that those are copied as well that have no span.
        let mut named = batch.to_vec();
        for span in &begun {
            traceparent::set(&mut named[span.index].event, span.parent.with_span(span.id));
        }
        let spans = Open { sink: self, batch, begun, since: SystemClock.now() };
        let answers = self.sink.deliver(&named, until).await;
        spans.end(&answers);
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.sink.ping().await
    }

    fn keeps_key_order(&self) -> bool {
        self.sink.keeps_key_order()
    }
}

/// The spans of a batch that is under way. Dropped before its end, it was cut off, and its spans say so.
struct Open<'a> {
    sink: &'a TracedSink,
    batch: &'a [Entry],
    begun: Vec<Begun>,
    since: Timestamp,
}

impl Open<'_> {
    /// What was not sent was no attempt, and has no span.
    fn end(mut self, answers: &[Delivery]) {
        self.record(|index| match answers.get(index) {
            Some(Delivery::Delivered) => Some(End::Delivered),
            Some(Delivery::Failed(fault)) => Some(End::Failed(fault)),
            Some(Delivery::NotSent) | None => None,
        });
    }

    fn record<'f>(&mut self, came_to: impl Fn(usize) -> Option<End<'f>>) {
        let times = (self.since, SystemClock.now());
        let spans = mem::take(&mut self.begun).into_iter().filter_map(|begun| {
            let came_to = came_to(begun.index)?;
            Some(self.sink.maker.span(&self.batch[begun.index], begun, times, came_to))
        });
        self.sink.recorder.record(spans);
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.begun.is_empty() {
            self.record(|_| Some(End::NoAnswer));
        }
    }
}
