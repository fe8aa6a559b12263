//! Putting a relay together: listeners in the process, and subscriptions with sinks.

use std::{future::Future, sync::Arc};

use posthaste_core::{EventType, Filter, RelayId, Result, Sink, Subscription};
use posthaste_listeners::{ListenerError, Listeners, Received};
use posthaste_relay::{Pulse, Settings, Stopped, Tuner};

use crate::Outbox;

/// The name of the subscription that the listeners of a relay share, unless another is set.
pub const LISTENERS: &str = "listeners";

/// Puts a relay together.
#[must_use = "call start()"]
pub struct RelayBuilder {
    outbox: Outbox,
    settings: Settings,
    listeners: Option<Listeners>,
    listening: Subscription,
    subscriptions: Vec<(Subscription, Arc<dyn Sink>)>,
}

impl RelayBuilder {
    pub(crate) fn new(outbox: Outbox) -> Self {
        Self {
            outbox,
            settings: Settings::default(),
            listeners: None,
            listening: Subscription::new(LISTENERS),
            subscriptions: Vec::new(),
        }
    }

    /// Calls an async function for each event of this type. Exact registrations are called first, then those for all,
    /// each in the order in which they were made.
    pub fn listen<F, R>(mut self, event_type: impl EventType, listener: F) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        self.listeners = Some(self.listeners.take().unwrap_or_default().on(event_type, listener));
        self
    }

    /// Calls an async function for every event.
    pub fn listen_all<F, R>(mut self, listener: F) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        self.listeners = Some(self.listeners.take().unwrap_or_default().on_all(listener));
        self
    }

    /// How the listeners subscribe: under which name, from where, with which policy. Unless set, they are the
    /// subscription [`LISTENERS`], from the beginning, in order, to the event types that are listened to.
    ///
    /// Processes that share a name must have the same listeners. Where they have not, as during a deployment, the one
    /// that was started last delivers, and the others say so and wait. Listeners that live in different services
    /// want names of their own.
    pub fn listen_as(mut self, subscription: Subscription) -> Self {
        self.listening = subscription;
        self
    }

    /// Serves a subscription with a sink of its own.
    pub fn subscribe(mut self, subscription: Subscription, sink: impl Sink) -> Self {
        self.subscriptions.push((subscription, Arc::new(sink)));
        self
    }

    /// Other settings than the defaults.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Creates the subscriptions that are new and starts delivering.
    pub async fn start(self) -> Result<Relay> {
        let driver = self.outbox.driver();
        let mut builder = posthaste_relay::RelayBuilder::new(driver.clone())
            .settings(self.settings)
            .metrics_prefix(self.outbox.metrics_prefix())
            .measure(driver);
        if let Some(listeners) = self.listeners {
            let mut listening = self.listening;
            // A process that has no listener for an event must not settle it for one that has: with the types in the
            // filter they are different generations of the subscription, and only the newer one holds lanes.
            if listening.filter == Filter::default() {
                listening.filter.types = listeners.wanted();
            }
            builder = builder.subscribe(listening, Arc::new(listeners));
        }
        for (subscription, sink) in self.subscriptions {
            builder = builder.subscribe(subscription, sink);
        }
        let relay = builder.start().await?;
        self.outbox.add_hot(relay.hot());
        Ok(Relay { relay })
    }
}

/// A running relay. Dropping it is like a crash: nothing is lost, but its lanes wait for its lease to end.
#[must_use = "a relay that is dropped stops at once"]
pub struct Relay {
    relay: posthaste_relay::Relay,
}

impl Relay {
    /// Stops reading, finishes what is under way within the grace time, settles it and gives the lanes back.
    pub async fn stop(self) -> Stopped {
        self.relay.stop().await
    }

    /// The id under which it holds lanes at present.
    #[must_use]
    pub fn id(&self) -> Option<RelayId> {
        self.relay.id()
    }

    /// How it is doing, for whoever watches it.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        self.relay.pulse()
    }

    /// Changes it while it runs: how it polls, how much it takes up at a time, and how fast it delivers.
    #[must_use]
    pub fn tuner(&self) -> Tuner {
        self.relay.tuner()
    }
}
