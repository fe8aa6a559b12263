//! The registry: which listeners there are, and which of them want an event.

use std::{
    any::type_name,
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    fmt,
    future::Future,
    time::Duration,
};

use futures_util::future::BoxFuture;
use posthaste_core::{EventType, Pattern};

use crate::{ListenerError, Received};

/// Functions by the event types they want. This is the sink of a subscription; see the [crate] for its rules.
pub struct Listeners {
    exact: HashMap<Cow<'static, str>, Vec<Listener>>,
    wildcard: Vec<(Pattern, Listener)>,
    limit: Option<Duration>,
    pub(crate) concurrency: usize,
}

/// One registered function.
pub(crate) struct Listener {
    call: Box<Call>,
    /// Its path in the source, for messages.
    pub(crate) name: &'static str,
    limit: Option<Duration>,
}

type Call = dyn Fn(Received) -> BoxFuture<'static, Result<(), ListenerError>> + Send + Sync;

impl Listeners {
    /// No listeners yet: every event is delivered, and nothing happens.
    #[must_use]
    pub fn new() -> Self {
        Self { exact: HashMap::new(), wildcard: Vec::new(), limit: None, concurrency: 1 }
    }

    /// Calls `listener` for events of this type. A type with a `*` in it is a pattern, and `"*"` is all of them.
    #[must_use]
    pub fn on<F, R>(self, event_type: impl EventType, listener: F) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        self.register(event_type.name(), Listener::new(listener, None))
    }

    /// Like [`on`](Self::on), with a time limit of its own for this listener.
    #[must_use]
    pub fn on_within<F, R>(self, event_type: impl EventType, limit: Duration, listener: F) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        self.register(event_type.name(), Listener::new(listener, Some(limit)))
    }

    /// Calls `listener` for every event, after the listeners of exactly its type.
    #[must_use]
    pub fn on_all<F, R>(self, listener: F) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        self.register(Cow::Borrowed("*"), Listener::new(listener, None))
    }

    /// Like [`on_all`](Self::on_all), with a time limit of its own for this listener.
    #[must_use]
    pub fn on_all_within<F, R>(self, limit: Duration, listener: F) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        self.register(Cow::Borrowed("*"), Listener::new(listener, Some(limit)))
    }

    /// How long each call of a listener may take that has no limit of its own. Without this there is no limit but the
    /// relay's lease.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.limit = Some(limit);
        self
    }

    /// How many events of one batch may run at the same time, each of another key or of none; 1 unless set, and never
    /// less. They share the relay's task: this is for listeners that wait, not for listeners that compute.
    #[must_use]
    pub fn concurrency(mut self, events: usize) -> Self {
        self.concurrency = events.max(1);
        self
    }

    /// The event types that somebody listens to, `*` among them if somebody listens to all; sorted, each once. Two processes
    /// with different listeners differ in this, whatever else matches.
    #[must_use]
    pub fn wanted(&self) -> Vec<Pattern> {
        let exact = self.exact.keys().map(ToString::to_string);
        let patterns = self.wildcard.iter().map(|(pattern, _)| pattern.to_string());
        let names: BTreeSet<String> = exact.chain(patterns).collect();
        names.into_iter().map(Pattern::new).collect()
    }

    fn register(mut self, event_type: Cow<'static, str>, listener: Listener) -> Self {
        if event_type.contains('*') {
            self.wildcard.push((Pattern::new(event_type), listener));
        } else {
            self.exact.entry(event_type).or_default().push(listener);
        }
        self
    }

    /// The listeners that want events of this type, in the order they are called.
    pub(crate) fn matching<'a>(&'a self, event_type: &'a str) -> impl Iterator<Item = &'a Listener> {
        let exact = self.exact.get(event_type).into_iter().flatten();
        let wildcard = self.wildcard.iter().filter(|(pattern, _)| pattern.matches(event_type));
        exact.chain(wildcard.map(|(_, listener)| listener))
    }

    /// How long one call of this listener may take.
    pub(crate) fn limit_of(&self, listener: &Listener) -> Option<Duration> {
        listener.limit.or(self.limit)
    }
}

impl Default for Listeners {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wildcard: Vec<_> = self.wildcard.iter().map(|(pattern, listener)| (pattern, listener)).collect();
        f.debug_struct("Listeners")
            .field("exact", &self.exact)
            .field("wildcard", &wildcard)
            .finish_non_exhaustive()
    }
}

impl Listener {
    fn new<F, R>(listener: F, limit: Option<Duration>) -> Self
    where
        F: Fn(Received) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), ListenerError>> + Send + 'static,
    {
        Self { call: Box::new(move |event| Box::pin(listener(event))), name: type_name::<F>(), limit }
    }

    /// Begins the call. The function may panic before it returns its future.
    pub(crate) fn call(&self, event: Received) -> BoxFuture<'static, Result<(), ListenerError>> {
        (self.call)(event)
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
