//! Destinations that do as they are told.

use std::time::Instant;

use async_trait::async_trait;
use posthaste::{Delivery, Entry, Fault, Sink};

/// Takes everything.
pub(crate) struct Taking;

#[async_trait]
impl Sink for Taking {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        vec![Delivery::Delivered; batch.len()]
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }
}

/// Answers with a fault, and says that it is down when it is asked.
pub(crate) struct Failing(Fault);

impl Failing {
    /// Refuses everything, each event for itself.
    pub(crate) fn refusing() -> Self {
        Self(Fault::permanent("<script>alert(1)</script> no"))
    }

    /// Is down.
    pub(crate) fn down() -> Self {
        Self(Fault::unavailable("it is down"))
    }
}

#[async_trait]
impl Sink for Failing {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        let mut answers = vec![Delivery::NotSent; batch.len()];
        if let Some(first) = answers.first_mut() {
            *first = Delivery::Failed(self.0.clone());
        }
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        Err(Fault::unavailable("it is down"))
    }
}
