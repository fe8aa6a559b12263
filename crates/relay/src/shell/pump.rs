//! The pump of one subscription: carries the machine's commands out and feeds the answers back.

use std::{sync::Arc, time::Duration};

use posthaste_core::{
    Act, Appended, Clock, Delivery, Entry, Error, ErrorKind, Fault, Lane, Log, Page, Read, RelayId, Result,
    Sink, Subscription, SystemClock,
};
use tokio::{
    sync::{Notify, mpsc, watch},
    task::JoinSet,
};

use super::{
    complaint::{Complaint, Seldom},
    deliver,
    guard::within,
    holder::Held,
    telling::tell,
    timer::Timer,
};
use crate::{
    Moment, Settings, Tuning,
    machine::{Command, Machine, Sent},
    metric::{self, Metrics},
};

/// How long a read or an append may take before it is tried again. Both can be repeated without harm.
const PATIENCE: Duration = Duration::from_secs(30);

/// The loop that appends, as logs and metrics name it.
const APPEND: &str = "append";

/// What a pump shares with the rest of the relay.
#[derive(Clone)]
pub(super) struct Surroundings {
    pub(super) log: Arc<dyn Log>,
    pub(super) sink: Arc<dyn Sink>,
    pub(super) subscription: Subscription,
    pub(super) generation: i64,
    pub(super) settings: Settings,
    pub(super) timer: Timer,
    pub(super) metrics: Metrics,
    pub(super) prefix: String,
    /// Rung when something may have been committed.
    pub(super) bell: Arc<Notify>,
    /// Rung to have the lease renewed now.
    pub(super) renew: Arc<Notify>,
    pub(super) held: watch::Receiver<Option<Held>>,
    pub(super) stop: watch::Receiver<bool>,
    pub(super) tuning: watch::Receiver<Tuning>,
}

pub(super) struct Pump {
    around: Surroundings,
    machine: Machine,
    /// Under which id the lanes are held.
    me: Option<RelayId>,
    tasks: JoinSet<Done>,
    read_complaint: Complaint,
    append_complaint: Complaint,
    refusals: Seldom,
}

/// What a task came back with.
enum Done {
    Read(Result<Page>),
    Sent { lane: Lane, entries: Vec<Entry>, deliveries: Vec<Delivery>, began: Moment },
    SentHot { entry: Box<Entry>, delivery: Delivery, began: Moment },
    Appended(Result<Vec<Appended>>),
    Pinged(Result<(), Fault>),
}

impl Pump {
    pub(super) fn new(around: Surroundings) -> Self {
        let (subscription, settings) = (around.subscription.clone(), around.settings.clone());
        let mut machine = Machine::new(subscription, around.generation, settings, fastrand::u64(..));
        if !around.sink.keeps_key_order() {
            machine = machine.with_one_entry_a_key();
        }
        Self {
            machine,
            me: None,
            tasks: JoinSet::new(),
            read_complaint: Complaint::new("read", &around.prefix),
            append_complaint: Complaint::new(APPEND, &around.prefix),
            refusals: Seldom::default(),
            around,
        }
    }

    /// Runs until it was told to stop and holds nothing any more.
    pub(super) async fn run(mut self, hot: &mut mpsc::Receiver<Box<Entry>>) {
        // What is known already counts as news for a pump that starts, or starts again.
        self.around.held.mark_changed();
        self.around.stop.mark_changed();
        self.around.tuning.mark_changed();
        let bell = Arc::clone(&self.around.bell);
        loop {
            self.carry_out();
            if self.machine.is_stopped() {
                return;
            }
            let wake = self.machine.wake_at();
            tokio::select! {
                // What comes seldom is looked at first: no load may hide a renewal or the wish to stop.
                biased;
                Ok(()) = self.around.held.changed() => self.take_census(),
                Ok(()) = self.around.stop.changed() => if *self.around.stop.borrow_and_update() { self.machine.stop() },
                Ok(()) = self.around.tuning.changed() => self.tune(),
                Some(done) = self.tasks.join_next(), if !self.tasks.is_empty() => self.take_in(done),
                Some(entry) = hot.recv() => self.offer(*entry, hot.len()),
                () = bell.notified() => self.machine.ring(),
                () = self.around.timer.wait(wake) => {}
            }
        }
    }

    fn now(&self) -> Moment {
        self.around.timer.now()
    }

    /// Starts everything the machine wants now.
    fn carry_out(&mut self) {
        while let Some(done) = self.tasks.try_join_next() {
            self.take_in(done);
        }
        while let Some(command) = self.machine.poll(self.now()) {
            self.start(command);
        }
        for note in self.machine.take_notes() {
            tell(&self.around.subscription.name, &self.around.metrics, &self.refusals, note);
        }
        let metrics = &self.around.metrics;
        metrics.lanes_held.set(f64::from(self.machine.held().len()));
        metrics.circuit_open.set(f64::from(u8::from(!self.machine.circuit_is_closed())));
        #[expect(clippy::cast_precision_loss, reason = "a bounded queue is far below 2^52")]
        metrics.cold_depth.set(self.machine.buffered() as f64);
    }

    fn start(&mut self, command: Command) {
        match command {
            Command::Read(read) => self.start_read(read),
            Command::Append(acts) => self.start_append(acts),
            Command::Send { lane, entries, until } => {
                let (sink, began) = (Arc::clone(&self.around.sink), self.now());
                let until = self.around.timer.instant(until);
                self.tasks.spawn(async move {
                    let deliveries = deliver::deliver(sink.as_ref(), &entries, until).await;
                    Done::Sent { lane, entries, deliveries, began }
                });
            }
            Command::SendHot { entry, until } => {
                let (sink, began) = (Arc::clone(&self.around.sink), self.now());
                let until = self.around.timer.instant(until);
                self.tasks.spawn(async move {
                    let mut answer =
                        deliver::deliver(sink.as_ref(), std::slice::from_ref(&entry), until).await;
                    Done::SentHot { entry, delivery: answer.pop().unwrap_or(Delivery::NotSent), began }
                });
            }
            Command::Ping => {
                let (sink, limit) = (Arc::clone(&self.around.sink), self.around.settings.lease);
                self.tasks.spawn(async move { Done::Pinged(deliver::ping(sink.as_ref(), limit).await) });
            }
            Command::Renew => self.around.renew.notify_one(),
        }
    }

    fn start_read(&mut self, read: Read) {
        let log = Arc::clone(&self.around.log);
        self.around.metrics.reads.increment(1);
        self.tasks.spawn(async move { Done::Read(within(PATIENCE, log.read(&read)).await) });
    }

    fn start_append(&mut self, acts: Arc<[Act]>) {
        let (log, name) = (Arc::clone(&self.around.log), self.around.subscription.name.clone());
        self.around.metrics.settlements.increment(1);
        let me = self.me.clone();
        self.tasks.spawn(async move {
            let Some(me) = me else { return Done::Appended(Ok(vec![Appended::Fenced; acts.len()])) };
            Done::Appended(within(PATIENCE, log.append(&name, &me, &acts)).await)
        });
    }

    fn take_in(&mut self, done: Result<Done, tokio::task::JoinError>) {
        match done {
            Ok(done) => self.settle_done(done),
            // Sinks are guarded, so this is a bug in a log. The supervisor says so and starts the pump anew.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }

    fn settle_done(&mut self, done: Done) {
        let now = self.now();
        match done {
            Done::Read(answer) => {
                let page = note_answer(&mut self.read_complaint, now, answer);
                let read = page.as_ref().map_or(0, |page| page.entries.len() + page.parked.len());
                self.around.metrics.cold_read.increment(read as u64);
                self.machine.page(now, page);
            }
            Done::Appended(Err(error)) if is_refusal(&error) => {
                self.append_complaint.succeeded(now);
                metric::loop_failed(&self.around.prefix, APPEND);
                self.machine.append_refused(now, &error.chain());
            }
            Done::Appended(answer) => {
                let answer = note_answer(&mut self.append_complaint, now, answer);
                self.machine.appended(now, answer);
            }
            Done::Pinged(answer) => self.machine.pinged(now, answer),
            Done::Sent { lane, entries, deliveries, began } => {
                let took = now.since(began);
                self.around.metrics.delivery_seconds.record(took);
                self.count_delivered(entries.iter().zip(&deliveries));
                self.machine.sent(now, lane, Sent { entries, deliveries, took });
            }
            Done::SentHot { entry, delivery, began } => {
                self.around.metrics.delivery_seconds.record(now.since(began));
                self.count_delivered(std::iter::once((entry.as_ref(), &delivery)));
                self.around.metrics.hot_delivered.increment(u64::from(delivery == Delivery::Delivered));
                self.machine.sent_hot(now, &entry, delivery);
            }
        }
    }

    fn count_delivered<'a>(&self, answers: impl Iterator<Item = (&'a Entry, &'a Delivery)>) {
        let time = SystemClock.now();
        let mut count = 0;
        for (entry, delivery) in answers {
            if *delivery == Delivery::Delivered {
                count += 1;
                self.around.metrics.latency_seconds.record(time.since(entry.event.occurred_at));
            }
        }
        self.around.metrics.delivered.increment(count);
    }

    fn offer(&mut self, entry: Entry, waiting: usize) {
        #[expect(clippy::cast_precision_loss, reason = "a bounded queue is far below 2^52")]
        self.around.metrics.hot_depth.set(waiting as f64);
        let now = self.now();
        if let Some(command) = self.machine.offer_hot(now, entry) {
            self.start(command);
        }
    }

    fn tune(&mut self) {
        let tuning = self.around.tuning.borrow_and_update().clone();
        self.machine.tune(self.now(), &tuning);
    }

    fn take_census(&mut self) {
        let Some(held) = self.around.held.borrow_and_update().clone() else { return };
        if self.me.as_ref().is_some_and(|me| *me != held.me) {
            self.machine.lost();
        }
        let now = self.now();
        let census =
            held.census.subscriptions.iter().find(|census| census.name == self.around.subscription.name);
        match census {
            Some(census) => self.machine.census(now, &held.me, census, held.deadline),
            None => tracing::error!(
                subscription = self.around.subscription.name,
                "the log does not know the subscription"
            ),
        }
        self.me = Some(held.me);
    }
}

/// Whether the database has answered, and does not want something of it. One that cannot be reached says nothing about that.
fn is_refusal(error: &Error) -> bool {
    error.kind() != ErrorKind::Unavailable
}

/// What came, if anything; a failure is said, but not too often.
fn note_answer<T>(complaint: &mut Complaint, now: Moment, answer: Result<T, Error>) -> Option<T> {
    match answer {
        Ok(value) => {
            complaint.succeeded(now);
            Some(value)
        }
        Err(error) => {
            complaint.failed(now, &error);
            None
        }
    }
}
