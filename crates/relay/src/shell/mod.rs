//! The shell around the machine: a relay in a tokio runtime, with its loops and its handle.

mod complaint;
mod deliver;
mod guard;
mod holder;
mod hot;
mod pulse;
mod pump;
mod telling;
mod timer;
mod upkeep;

use std::{collections::HashMap, sync::Arc, time::Duration};

use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use posthaste_core::{Entry, Error, Inspect, Log, RelayId, Result, Sink, Subscription};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinSet,
};

use self::{
    guard::{keep_running, within},
    holder::{Held, Holder, new_lease},
    pump::{Pump, Surroundings},
    timer::Timer,
    upkeep::{Gauge, Pruner, Worker},
};
pub use self::{hot::Hot, pulse::Pulse};
use crate::{
    Settings, Tuner,
    metric::{DEFAULT_PREFIX, Metrics},
};

/// Puts a relay together.
pub struct RelayBuilder {
    log: Arc<dyn Log>,
    inspect: Option<Arc<dyn Inspect>>,
    settings: Settings,
    host: String,
    prefix: String,
    subscriptions: Vec<(Subscription, Arc<dyn Sink>)>,
}

impl RelayBuilder {
    /// A relay over this log.
    #[must_use]
    pub fn new(log: Arc<dyn Log>) -> Self {
        Self {
            log,
            inspect: None,
            settings: Settings::default(),
            host: host(),
            prefix: DEFAULT_PREFIX.to_owned(),
            subscriptions: Vec::new(),
        }
    }

    /// Serves a subscription.
    #[must_use]
    pub fn subscribe(mut self, subscription: Subscription, sink: Arc<dyn Sink>) -> Self {
        self.subscriptions.push((subscription, sink));
        self
    }

    /// Other settings than the defaults.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Another prefix of the metrics' names than `outbox`.
    #[must_use]
    pub fn metrics_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Measures the state of the log through this, for the gauges.
    #[must_use]
    pub fn measure(mut self, inspect: Arc<dyn Inspect>) -> Self {
        self.inspect = Some(inspect);
        self
    }

    /// Creates the subscriptions that are new and starts the relay's loops on the current runtime.
    pub async fn start(self) -> Result<Relay> {
        self.check()?;
        let timer = Timer::start();
        let (stop, stopped) = watch::channel(false);
        let (news, held) = watch::channel(None);
        let renew = Arc::new(Notify::new());
        let names = self.subscriptions.iter().map(|(subscription, _)| subscription.name.clone());
        let tuner = Tuner::new(self.settings.clone(), names.collect());
        let pulse = Pulse { held: held.clone(), timer };
        let mut relay = Relay {
            pumps: JoinSet::new(),
            loops: JoinSet::new(),
            hot: Hot::new(pulse.clone()),
            pulse,
            log: Arc::clone(&self.log),
            stop,
            tuner: tuner.clone(),
            grace: self.settings.grace,
        };
        let (mut metrics, mut generations) = (Vec::new(), HashMap::new());
        for (subscription, sink) in &self.subscriptions {
            let around = Surroundings {
                generation: self.log.subscribe(subscription).await?.generation,
                log: Arc::clone(&self.log),
                sink: Arc::clone(sink),
                subscription: subscription.clone(),
                settings: self.settings.clone(),
                timer,
                metrics: Metrics::new(&self.prefix, &subscription.name),
                prefix: self.prefix.clone(),
                bell: Arc::new(Notify::new()),
                renew: Arc::clone(&renew),
                held: held.clone(),
                stop: stopped.clone(),
                tuning: tuner.watch(),
            };
            metrics.push((subscription.name.clone(), around.metrics.clone()));
            generations.insert(subscription.name.clone(), around.generation);
            relay.start_pump(around);
        }
        self.start_loops(&mut relay, Wiring { timer, news, renew, metrics, generations });
        Ok(relay)
    }

    fn check(&self) -> Result<()> {
        self.settings.validate()?;
        if self.subscriptions.is_empty() {
            return Err(Error::invalid("a relay needs at least one subscription"));
        }
        for (index, (subscription, _)) in self.subscriptions.iter().enumerate() {
            subscription.validate()?;
            if self.subscriptions[..index].iter().any(|(other, _)| other.name == subscription.name) {
                return Err(Error::invalid(format!("subscription {:?} is there twice", subscription.name)));
            }
        }
        Ok(())
    }

    fn start_loops(self, relay: &mut Relay, wiring: Wiring) {
        let Wiring { timer, news, renew, metrics, generations } = wiring;
        let names = self.subscriptions.iter().map(|(subscription, _)| subscription.name.clone());
        let holder = Holder {
            lease: new_lease(self.host, names.collect(), self.settings.lease),
            log: Arc::clone(&self.log),
            settings: self.settings.clone(),
            timer,
            prefix: self.prefix.clone(),
            news,
            wanted: renew,
            generations,
            outdated: Vec::new(),
        };
        let prefix = self.prefix;
        relay.start_loop("hold", &prefix, holder, |holder| holder.run().boxed());
        let doorbell = (Arc::clone(&self.log), relay.hot.clone());
        relay.start_loop("doorbell", &prefix, doorbell, |(log, hot)| {
            let mut doorbell = log.doorbell();
            async move {
                while doorbell.next().await.is_some() {
                    hot.ring();
                }
            }
            .boxed()
        });
        let worker =
            Worker { log: Arc::clone(&self.log), hot: relay.hot.clone(), timer, prefix: prefix.clone() };
        relay.start_loop("work", &prefix, worker, |worker| worker.run().boxed());
        let pruner = Pruner { log: self.log, settings: self.settings, timer, prefix: prefix.clone() };
        relay.start_loop("prune", &prefix, pruner, |pruner| pruner.run().boxed());
        if let Some(inspect) = self.inspect {
            let gauge = Gauge { inspect, metrics, timer, prefix: prefix.clone() };
            relay.start_loop("measure", &prefix, gauge, |gauge| gauge.run().boxed());
        }
    }
}

/// What connects the loops of a relay.
struct Wiring {
    timer: Timer,
    news: watch::Sender<Option<Held>>,
    renew: Arc<Notify>,
    metrics: Vec<(String, Metrics)>,
    generations: HashMap<String, i64>,
}

/// A running relay. Dropping it is like a crash: nothing is lost, but lanes stay taken until the lease ends. Better
/// [`stop`](Relay::stop) it.
#[must_use = "a relay that is dropped stops at once"]
pub struct Relay {
    pumps: JoinSet<()>,
    loops: JoinSet<()>,
    hot: Hot,
    log: Arc<dyn Log>,
    stop: watch::Sender<bool>,
    pulse: Pulse,
    tuner: Tuner,
    grace: Duration,
}

/// How a relay stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Everything under way was settled and every lane given back.
    Cleanly,
    /// The grace time was over first. What was under way is delivered again when the lease has ended.
    InTheMiddle,
}

impl Relay {
    /// The hot path into this relay.
    #[must_use]
    pub fn hot(&self) -> Hot {
        self.hot.clone()
    }

    /// The id under which the relay holds lanes at present.
    #[must_use]
    pub fn id(&self) -> Option<RelayId> {
        self.pulse.id()
    }

    /// How it is doing, for whoever watches it.
    #[must_use]
    pub fn pulse(&self) -> Pulse {
        self.pulse.clone()
    }

    /// Changes it while it runs.
    #[must_use]
    pub fn tuner(&self) -> Tuner {
        self.tuner.clone()
    }

    /// Stops reading, finishes what is under way within the grace time, settles it and gives the lanes back.
    pub async fn stop(mut self) -> Stopped {
        self.stop.send_replace(true);
        let finished =
            tokio::time::timeout(self.grace, async { while self.pumps.join_next().await.is_some() {} }).await;
        self.loops.shutdown().await;
        if finished.is_err() {
            tracing::warn!(
                "the grace time is over; what is under way is delivered again when the lease has ended"
            );
            return Stopped::InTheMiddle;
        }
        if let Some(me) = self.id()
            && let Err(error) = within(LEAVING, self.log.leave(&me)).await
        {
            tracing::warn!(error = %error.chain(), "the relay's row could not be removed; its lease will end");
        }
        Stopped::Cleanly
    }

    fn start_pump(&mut self, around: Surroundings) {
        let (sender, receiver) = mpsc::channel::<Box<Entry>>(around.settings.hot_queue);
        self.hot.add(&around.subscription, sender, Arc::clone(&around.bell), around.metrics.clone());
        let (prefix, state) = (around.prefix.clone(), (around, receiver));
        self.pumps.spawn(keep_running("pump", prefix, state, |(around, receiver)| {
            Pump::new(around.clone()).run(receiver).boxed()
        }));
    }

    fn start_loop<S: Send + 'static>(
        &mut self,
        name: &'static str,
        prefix: &str,
        state: S,
        run: fn(&mut S) -> BoxFuture<'_, ()>,
    ) {
        self.loops.spawn(keep_running(name, prefix.to_owned(), state, run));
    }
}

/// How long removing the relay's row may take: it only spares others a wait.
const LEAVING: Duration = Duration::from_secs(1);

fn host() -> String {
    let name =
        std::env::var("HOSTNAME").or_else(|_| std::fs::read_to_string("/etc/hostname")).unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}
