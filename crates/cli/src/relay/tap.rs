//! A sink seen through: counts what is delivered, and notices when nobody reads standard output any more.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use posthaste::{Delivery, Entry, Fault, Result, Sink};
use posthaste_config::{Destination, Served};
use posthaste_validation::{Rules, ValidatedSink};
use tokio::sync::Notify;

use super::traces::Tracing;

/// A sink, and what was seen of it. Clones are the same sink, so that a relay that could not start can try again with it.
#[derive(Clone)]
pub(super) struct Tap {
    sink: Arc<dyn Sink>,
    /// The step of it that judges payloads.
    validated: Arc<ValidatedSink>,
    delivered: Arc<AtomicU64>,
    /// Rung when nobody reads any more.
    abandoned: Arc<Notify>,
    /// How the end of the reader shows in a fault; none where somebody else may come to read.
    ending: Option<String>,
}

impl Tap {
    /// Opens the destination, with the rules before it, and traces around both: what breaks a rule is an attempt as well. A closed pipe
    /// never opens again: waiting for it, as for any other destination that is down, would be for ever, so `abandoned` is rung then.
    pub(super) fn open(served: &Served, tracing: Option<&Tracing>, abandoned: &Arc<Notify>) -> Result<Self> {
        const EPIPE: i32 = 32;
        let broken_pipe = || io::Error::from_raw_os_error(EPIPE).to_string();
        let is_stdout = matches!(served.destination, Destination::Stdout { .. });
        let validated = Arc::new(ValidatedSink::new(served.destination.open()?, served.rules.clone()));
        Ok(Self {
            sink: match tracing {
                Some(tracing) => tracing.around(validated.clone(), served),
                None => validated.clone(),
            },
            validated,
            delivered: Arc::default(),
            abandoned: Arc::clone(abandoned),
            ending: is_stdout.then(broken_pipe),
        })
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// From now on a payload has to be what these say.
    pub(super) fn set_rules(&self, rules: Rules) {
        self.validated.set_rules(rules);
    }

    fn look_at(&self, fault: &Fault) {
        if self.ending.as_ref().is_some_and(|ending| fault.message.contains(ending)) {
            self.abandoned.notify_one();
        }
    }
}

#[async_trait]
impl Sink for Tap {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        let answers = self.sink.deliver(batch, until).await;
        let mut delivered = 0;
        for answer in &answers {
            match answer {
                Delivery::Delivered => delivered += 1,
                Delivery::Failed(fault) => self.look_at(fault),
                Delivery::NotSent => {}
            }
        }
        self.delivered.fetch_add(delivered, Ordering::Relaxed);
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        self.sink.ping().await
    }

    fn keeps_key_order(&self) -> bool {
        self.sink.keeps_key_order()
    }
}
