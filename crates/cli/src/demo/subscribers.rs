//! The four subscribers: one is well, one fails at times, one is down for a while, one has a bug.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use async_trait::async_trait;
use fastrand::Rng;
use posthaste::{Delivery, Entry, Fault, ListenerError, Listeners, Received, Sink};

use super::{receipts::Receipts, shop::ShopEvent};

pub(crate) const WAREHOUSE: &str = "warehouse";
pub(crate) const EMAIL: &str = "email";
pub(crate) const PAYMENTS: &str = "payments";
pub(crate) const INVOICES: &str = "invoices";

/// One delivery in so many fails at the subscriber that fails at times.
const FAILS: u32 = 15;

/// What the bug says when it shows.
const BUG: &str = "an order has an address";

/// Whether something is so at present.
#[derive(Debug, Default)]
pub(super) struct Switch(AtomicBool);

impl Switch {
    pub(super) fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }

    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Everything works.
pub(super) fn healthy(receipts: Arc<Receipts>) -> Listeners {
    Listeners::new().on_all(move |event| {
        receipts.receive(&event);
        std::future::ready(Ok(()))
    })
}

/// Fails for some events, at their first attempt or the first few.
pub(super) fn shaky(receipts: Arc<Receipts>, seed: u64) -> Listeners {
    Listeners::new().on_all(move |event| {
        let answer = if is_unlucky(seed, &event) {
            receipts.fail(&event);
            Err(ListenerError::transient("the mail server is busy"))
        } else {
            receipts.receive(&event);
            Ok(())
        };
        std::future::ready(answer)
    })
}

/// The same for the same seed, place in the log and attempt.
fn is_unlucky(seed: u64, event: &Received) -> bool {
    let place = event.position().0.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
    Rng::with_seed(seed ^ place ^ u64::from(event.attempt())).u32(..FAILS) == 0
}

/// Has a bug: an order without an address makes it panic, until the bug is fixed.
pub(super) fn buggy(receipts: Arc<Receipts>, fixed: Arc<Switch>) -> Listeners {
    let failing = Arc::clone(&receipts);
    Listeners::new()
        .on(ShopEvent::Placed, move |event: Received| {
            let (failing, fixed) = (Arc::clone(&failing), Arc::clone(&fixed));
            async move {
                let order: serde_json::Value = event.json()?;
                let address = order["address"].as_str();
                if !fixed.is_on() {
                    if address.is_none() {
                        failing.fail(&event);
                    }
                    address.expect(BUG);
                }
                Ok(())
            }
        })
        .on_all(move |event| {
            receipts.receive(&event);
            std::future::ready(Ok(()))
        })
}

/// Works, except while it is down.
pub(super) struct Interrupted {
    listeners: Listeners,
    receipts: Arc<Receipts>,
    down: Arc<Switch>,
}

impl Interrupted {
    pub(super) fn new(receipts: Arc<Receipts>, down: Arc<Switch>) -> Self {
        Self { listeners: healthy(Arc::clone(&receipts)), receipts, down }
    }
}

#[async_trait]
impl Sink for Interrupted {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        if !self.down.is_on() {
            return self.listeners.deliver(batch, until).await;
        }
        let refused = batch.first().map(|entry| {
            self.receipts.refuse(entry.event.id);
            Delivery::Failed(connection_refused())
        });
        refused.into_iter().chain(std::iter::repeat(Delivery::NotSent)).take(batch.len()).collect()
    }

    async fn ping(&self) -> Result<(), Fault> {
        if self.down.is_on() { Err(connection_refused()) } else { Ok(()) }
    }
}

fn connection_refused() -> Fault {
    Fault::unavailable("connection refused")
}

/// The bug is part of the show: its panic is caught, and must not write across the screen.
pub(super) fn silence_expected_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some(BUG) {
            usual(panic);
        }
    }));
}
