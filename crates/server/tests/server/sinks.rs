//! Destinations that do as they are told.

use std::time::Instant;

use async_trait::async_trait;
use posthaste::{Delivery, Entry, Fault, Sink};

/// Takes everything.
pub(crate) struct Taking;

#[async_trait]
impl Sink for Taking {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        batch.iter().map(|_| Delivery::Delivered).collect()
    }

    async fn ping(&self) -> Result<(), Fault> {
        Ok(())
    }

    fn keeps_key_order(&self) -> bool {
        true
    }
}

/// Refuses everything, each event for itself.
pub(crate) struct Refusing;

#[async_trait]
impl Sink for Refusing {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        let mut answers: Vec<Delivery> = batch.iter().map(|_| Delivery::NotSent).collect();
        if let Some(first) = answers.first_mut() {
            *first = Delivery::Failed(Fault::permanent("<script>alert(1)</script> no"));
        }
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        Err(Fault::unavailable("it is down"))
    }

    fn keeps_key_order(&self) -> bool {
        true
    }
}

/// Is down.
pub(crate) struct Down;

#[async_trait]
impl Sink for Down {
    async fn deliver(&self, batch: &[Entry], _: Instant) -> Vec<Delivery> {
        let mut answers: Vec<Delivery> = batch.iter().map(|_| Delivery::NotSent).collect();
        if let Some(first) = answers.first_mut() {
            *first = Delivery::Failed(Fault::unavailable("it is down"));
        }
        answers
    }

    async fn ping(&self) -> Result<(), Fault> {
        Err(Fault::unavailable("it is down"))
    }

    fn keeps_key_order(&self) -> bool {
        true
    }
}
