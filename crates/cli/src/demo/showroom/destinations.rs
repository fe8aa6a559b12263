//! Where the shop's events go: one is well, one fails at times, one goes down and refuses some cards, one has a bug.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use fastrand::Rng;
use posthaste::{Delivery, Entry, EventId, Fault, ListenerError, Listeners, Received, Sink};
use serde_json::Value;

use super::super::subscribers::{EMAIL, INVOICES, PAYMENTS, Switch, WAREHOUSE};

/// One delivery in so many fails at the destination that fails at times.
const FAILS: u32 = 40;
/// For how long all is well before the payments go down, and for how long they are.
const UP: Duration = Duration::from_secs(90);
const DOWN: Duration = Duration::from_secs(15);
/// How many refused cards are remembered.
const REFUSED: usize = 10_000;

/// A destination of the shop's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Warehouse,
    Email,
    Payments,
    Invoices,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Kind::Warehouse, Kind::Email, Kind::Payments, Kind::Invoices];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Warehouse => WAREHOUSE,
            Kind::Email => EMAIL,
            Kind::Payments => PAYMENTS,
            Kind::Invoices => INVOICES,
        }
    }
}

/// What all destinations share.
pub(super) struct Town {
    seed: u64,
    down: Switch,
    refused: Mutex<HashSet<EventId>>,
}

impl Town {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, down: Switch::default(), refused: Mutex::default() }
    }

    /// Lets the payments go down and come back, for ever.
    pub(super) async fn live(&self) {
        loop {
            tokio::time::sleep(UP).await;
            self.down.set(true);
            tokio::time::sleep(DOWN).await;
            self.down.set(false);
        }
    }

    /// A card that has expired is refused, and accepted when somebody sends it again.
    fn charge(&self, event: &Received) -> Result<(), ListenerError> {
        if content(event)["card"]["state"] != "expired" {
            return Ok(());
        }
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() >= REFUSED {
            refused.clear();
        }
        if refused.insert(event.id) {
            return Err(ListenerError::permanent("the bank refuses the card: it has expired"));
        }
        Ok(())
    }

    /// The mail server is busy at times. The same for the same seed, place in the log and attempt.
    fn mail(&self, event: &Received) -> Result<(), ListenerError> {
        let place = event.position().0.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let luck = Rng::with_seed(self.seed ^ place ^ u64::from(event.attempt())).u32(..FAILS);
        if luck == 0 {
            Err(ListenerError::transient("451 the mail server is busy, try later"))
        } else {
            Ok(())
        }
    }
}

/// Has a bug: it cannot do without an address.
fn invoice(event: &Received) -> Result<(), ListenerError> {
    let content = content(event);
    if event.event_type == "order.placed" && content["address"].is_null() {
        let customer = content["customer"].as_str().unwrap_or("somebody");
        return Err(ListenerError::permanent(format!("an invoice for {customer} needs an address")));
    }
    Ok(())
}

fn content(event: &Received) -> Value {
    event.json().unwrap_or_default()
}

/// A destination as a relay sees it.
pub(super) struct Destination {
    kind: Kind,
    town: Arc<Town>,
    listeners: Listeners,
}

impl Destination {
    pub(super) fn new(kind: Kind, town: &Arc<Town>) -> Self {
        let inner = Arc::clone(town);
        let listeners = Listeners::new().on_all(move |event: Received| {
            std::future::ready(match kind {
                Kind::Warehouse => Ok(()),
                Kind::Email => inner.mail(&event),
                Kind::Payments => inner.charge(&event),
                Kind::Invoices => invoice(&event),
            })
        });
        Self { kind, town: Arc::clone(town), listeners }
    }

    fn is_down(&self) -> bool {
        self.kind == Kind::Payments && self.town.down.is_on()
    }
}

#[async_trait]
impl Sink for Destination {
    async fn deliver(&self, batch: &[Entry], until: Instant) -> Vec<Delivery> {
        if !self.is_down() {
            return self.listeners.deliver(batch, until).await;
        }
        let refused = batch.first().map(|_| Delivery::Failed(connection_refused()));
        refused.into_iter().chain(std::iter::repeat(Delivery::NotSent)).take(batch.len()).collect()
    }

    async fn ping(&self) -> Result<(), Fault> {
        if self.is_down() { Err(connection_refused()) } else { Ok(()) }
    }
}

fn connection_refused() -> Fault {
    Fault::unavailable("connection refused")
}
