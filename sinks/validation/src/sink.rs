//! The step itself: a sink in front of a sink.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, RwLock},
    time::Instant,
};

use async_trait::async_trait;
use posthaste_core::{Delivery, Entry, Fault, Sink};

use crate::Rules;

/// A sink that gets only what passes the rules.
pub struct ValidatedSink {
    sink: Arc<dyn Sink>,
    rules: RwLock<Rules>,
}

impl ValidatedSink {
    /// Puts the rules before a sink.
    pub fn new(sink: Arc<dyn Sink>, rules: Rules) -> Self {
        Self { sink, rules: RwLock::new(rules) }
    }

    /// From the next batch on these rules count. What is under way is judged by those before.
    pub fn set_rules(&self, rules: Rules) {
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    fn rules(&self) -> Rules {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Sink for ValidatedSink {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let rules = self.rules();
        if rules.is_empty() {
            return self.sink.deliver(batch, until).await;
        }
        let faults: Vec<Option<Fault>> =
            batch.iter().map(|entry| rules.check(&entry.event).err().map(Fault::schema)).collect();
        if faults.iter().all(Option::is_none) {
            return self.sink.deliver(batch, until).await;
        }
        // Nothing of a key may be delivered after its fault.
        let mut stopped: HashSet<&str> = HashSet::new();
        let mut passed = Vec::new();
        let mut answers: Vec<Option<Delivery>> = Vec::with_capacity(batch.len());
        for (entry, fault) in batch.iter().zip(faults) {
            let key = entry.event.key.as_deref();
            answers.push(if key.is_some_and(|key| stopped.contains(key)) {
                Some(Delivery::NotSent)
            } else if let Some(fault) = fault {
                stopped.extend(key);
                Some(Delivery::Failed(fault))
            } else {
                passed.push(entry.clone());
                None
            });
        }
        let mut sent = if passed.is_empty() { Vec::new() } else { self.sink.deliver(&passed, until).await };
        // A sink that answers for fewer entries than it was given has not sent the others.
        sent.resize(passed.len(), Delivery::NotSent);
        merge(batch, answers, sent)
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.sink.ping().await
    }

    fn keeps_key_order(&self) -> bool {
        self.sink.keeps_key_order()
    }
}

/// Each entry's answer. What was not sent or failed before it is the first fault of its key: its own is told another time.
fn merge(batch: &[Entry], answers: Vec<Option<Delivery>>, sent: Vec<Delivery>) -> Vec<Delivery> {
    let mut sent = sent.into_iter();
    let mut stopped: HashSet<&str> = HashSet::new();
    let mut all = Vec::with_capacity(batch.len());
    for (entry, answer) in batch.iter().zip(answers) {
        let key = entry.event.key.as_deref();
        let known = answer.is_some();
        let answer = answer.or_else(|| sent.next()).unwrap_or(Delivery::NotSent);
        let late = known && key.is_some_and(|key| stopped.contains(key));
        if answer != Delivery::Delivered {
            stopped.extend(key);
        }
        all.push(if late { Delivery::NotSent } else { answer });
    }
    all
}
