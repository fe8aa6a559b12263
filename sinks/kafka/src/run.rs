//! One call of `deliver`: routes a batch, sends it in waves, and gathers what became of each entry.

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use posthaste_core::{Delivery, Entry, Fault};
use rdkafka::error::RDKafkaErrorCode;
use tokio::task::yield_now;

use crate::{
    KafkaSink,
    fault::{Verdict, Way, judge},
    producer::Producer,
    receipts::Receipt,
    routes::Routes,
    tally::{State, Tally},
    topics::Topic,
    wave::{Deadline, End, Wave, record},
};

/// After so many records the thread is offered to others, and the clock is looked at.
const STRETCH: usize = 256;

/// See the [module](self).
pub(crate) struct Run<'b> {
    sink: &'b KafkaSink,
    batch: &'b [Entry],
    deadline: Deadline,
    tally: Tally<'b>,
    routes: Routes,
    /// Where values are written; kept from record to record.
    buffer: Vec<u8>,
}

impl<'b> Run<'b> {
    pub(crate) fn new(sink: &'b KafkaSink, batch: &'b [Entry], deadline: Deadline) -> Self {
        let (tally, routes) = (Tally::new(batch), Routes::default());
        Self { sink, batch, deadline, tally, routes, buffer: Vec::new() }
    }

    /// Sends what can be sent, and answers for every entry.
    pub(crate) async fn deliver(mut self) -> Vec<Delivery> {
        let outage = if self.deadline.is_over() { None } else { self.send_all().await.err() };
        self.tally.answers(outage.as_ref())
    }

    /// An error is an outage: why nothing more can be sent.
    async fn send_all(&mut self) -> Result<(), Fault> {
        self.route().await?;
        loop {
            let producer = self.sink.producers.get(Way::Together).await?;
            let stamp = self.sink.topics.stamp(producer.generation, Instant::now());
            let wave = self.routes.next_wave(self.batch, &self.tally, stamp);
            // What is left when time is over was not tried, and is the first of the next batch.
            if wave.is_empty() || self.deadline.is_over() {
                return Ok(());
            }
            let generation = producer.generation;
            let ended = self.send(producer, &wave, Way::Together).await;
            for (topic, partition) in wave.iter().filter_map(|index| self.delivered_to(*index)) {
                topic.warm(partition, stamp);
            }
            ended?;
            if self.tally.has_any(&State::Suspect) {
                return self.send_suspects(generation).await;
            }
            if self.tally.is_broken_off() {
                return Ok(());
            }
        }
    }

    /// Finds the topic of each entry. One that has none fails here.
    async fn route(&mut self) -> Result<(), Fault> {
        let mut known: Vec<(String, Result<usize, Fault>)> = Vec::new();
        self.routes.of = vec![None; self.batch.len()];
        let mut last = 0;
        for (index, entry) in self.batch.iter().enumerate() {
            let name = match self.sink.topic.topic(&entry.event).and_then(valid) {
                Ok(name) => name,
                Err(fault) => {
                    self.tally.note(index, Verdict::Failed(fault));
                    continue;
                }
            };
            if known.get(last).is_none_or(|(topic, _)| *topic != name) {
                last = match known.iter().position(|(topic, _)| *topic == name) {
                    Some(place) => place,
                    None => {
                        let found = self.sink.look_up(&name, self.deadline.left()).await?;
                        let found = found.map(|topic| self.routes.add_topic(topic));
                        known.push((name.into_owned(), found));
                        known.len() - 1
                    }
                };
            }
            match &known[last].1 {
                Ok(topic) => self.routes.of[index] = Some(self.routes.to(*topic, entry)),
                Err(fault) => self.tally.note(index, Verdict::Failed(fault.clone())),
            }
        }
        Ok(())
    }

    /// Sends one wave and takes down what became of its records.
    async fn send(&mut self, producer: Arc<Producer>, indexes: &[usize], way: Way) -> Result<(), Fault> {
        let mut wave = Wave::open(Arc::clone(&producer), indexes.len());
        let mut sent = Vec::with_capacity(indexes.len());
        for (count, index) in indexes.iter().copied().enumerate() {
            if count % STRETCH == 0 && count > 0 {
                yield_now().await;
                if self.deadline.is_over() {
                    break;
                }
            }
            if self.tally.is_halted(index) {
                continue;
            }
            match self.send_one(&mut wave, index).await {
                Ok(()) => sent.push(index),
                // The client takes nothing any more. The rest waits for another one, or for another batch.
                Err(Verdict::Unsent) => break,
                Err(verdict) => self.tally.note(index, verdict),
            }
        }
        let (receipts, end) = wave.end(&self.deadline).await;
        for (index, receipt) in sent.into_iter().zip(receipts) {
            let verdict = self.judge(index, receipt, way);
            self.tally.note(index, verdict);
        }
        self.outage(end, &producer)
    }

    async fn send_one(&mut self, wave: &mut Wave, index: usize) -> Result<(), Verdict> {
        let Some((topic, partition)) = self.routes.topic_of(index) else { return Err(Verdict::Unsent) };
        let entry = &self.batch[index];
        let record = record(&self.sink.envelope, entry, &topic.name, partition, &mut self.buffer)
            .map_err(Verdict::Failed)?;
        match wave.send(record, &self.deadline).await {
            Ok(()) => Ok(()),
            // What the client refuses at once was not in anybody's company.
            Err(code) => Err(self.judge(index, Receipt::Failed(code), Way::Alone)),
        }
    }

    /// What a receipt means, and what is to be remembered of it.
    fn judge(&self, index: usize, receipt: Receipt, way: Way) -> Verdict {
        use RDKafkaErrorCode as Code;
        let topic = self.routes.topic_of(index).map_or("", |(topic, _)| &topic.name);
        match receipt {
            Receipt::Failed(code @ Code::TopicAuthorizationFailed) => {
                return Verdict::Failed(self.sink.topic_fault(code, topic));
            }
            Receipt::Failed(Code::UnknownTopicOrPartition | Code::UnknownTopic | Code::UnknownPartition) => {
                self.sink.topics.forget(topic);
            }
            _ => {}
        }
        judge(receipt, way, topic, self.sink.unknown_topic)
    }

    /// Sends alone what shared a request with a record that was refused, one of each key at a time: then the refusal is
    /// the record's own.
    async fn send_suspects(&mut self, generation: u32) -> Result<(), Fault> {
        let suspects: Vec<usize> = self.tally.ready(&State::Suspect).collect();
        loop {
            let wave = self.routes.next_suspects(self.batch, &self.tally);
            if wave.is_empty() || self.deadline.is_over() {
                break;
            }
            let producer = self.sink.producers.get(Way::Alone).await?;
            self.send(producer, &wave, Way::Alone).await?;
        }
        // Nobody was to blame, so that it was the size of them all.
        if let Some((topic, _)) = suspects.first().and_then(|index| self.routes.topic_of(*index))
            && suspects.iter().all(|index| self.delivered_to(*index).is_some())
        {
            self.sink.producers.shrink_batches(&topic.name, generation);
        }
        Ok(())
    }

    /// Where an entry was delivered to, if it was.
    fn delivered_to(&self, index: usize) -> Option<(&Topic, usize)> {
        self.routes.topic_of(index).filter(|_| self.tally.is_delivered(index))
    }

    fn outage(&self, end: End, producer: &Producer) -> Result<(), Fault> {
        match end {
            End::Complete => Ok(()),
            End::Refused(reason) => Err(self.sink.refused(&reason)),
            End::Late if self.deadline.is_short => Ok(()),
            End::Late => {
                let waited = humantime::format_duration(Duration::from_millis(
                    u64::try_from(self.deadline.began.elapsed().as_millis()).unwrap_or(u64::MAX),
                ));
                let error = producer.desk().error_since(self.deadline.began);
                let error = error.unwrap_or_else(|| format!("no acknowledgement within {waited}"));
                Err(self.sink.outage(error))
            }
        }
    }
}

/// A name that Kafka allows. Another one would be refused by the broker, after much ado.
fn valid(name: Cow<'_, str>) -> Result<Cow<'_, str>, Fault> {
    const LONGEST: usize = 249;
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if matches!(&*name, "" | "." | "..") || name.len() > LONGEST || !name.bytes().all(legal) {
        return Err(Fault::permanent(format!(
            "{name:?} is no name of a topic: up to {LONGEST} letters, digits and . _ - are"
        )));
    }
    Ok(name)
}
