//! Holding: enrols the relay, renews its lease, and tells the pumps how the lanes stand.
//!
//! It has a loop of its own, so that no slow read or delivery makes a renewal late.

use std::{collections::HashMap, sync::Arc, time::Duration};

use posthaste_core::{Census, Hold, Lease, Log, RelayId, SubscriptionCensus};
use tokio::sync::{Notify, watch};

use super::{complaint::Complaint, guard::within, timer::Timer};
use crate::{Moment, Settings};

/// What the pumps know of the lease.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// Under which id. Another id than before means that all lanes are lost.
    pub(super) me: RelayId,
    pub(super) census: Arc<Census>,
    /// Nothing is sent after it.
    pub(super) deadline: Moment,
}

pub(super) struct Holder {
    pub(super) log: Arc<dyn Log>,
    pub(super) settings: Settings,
    pub(super) timer: Timer,
    pub(super) prefix: String,
    pub(super) news: watch::Sender<Option<Held>>,
    /// Rung when a renewal is wanted now.
    pub(super) wanted: Arc<Notify>,
    /// For which generation of each subscription the relay is configured.
    pub(super) generations: HashMap<String, i64>,
    /// What was said last of those that are configured anew elsewhere.
    pub(super) outdated: Vec<SubscriptionCensus>,
    /// What is asked for. It outlives a panic of the loop: under another id the lanes would wait for this one's end.
    pub(super) lease: Lease,
}

impl Holder {
    /// Runs until it is cancelled; a failed renewal is tried again soon.
    pub(super) async fn run(&mut self) {
        let mut complaint = Complaint::new("hold", &self.prefix);
        loop {
            let asked = self.timer.now();
            let wait = match within(self.patience(), self.log.hold(&self.lease)).await {
                Ok(Hold::Alive(mut census)) => {
                    complaint.succeeded(self.timer.now());
                    self.lease.first = false;
                    self.leave_outdated(&mut census);
                    let (me, deadline) = (self.lease.relay.clone(), asked + self.settings.sending_time());
                    self.news.send_replace(Some(Held { me, census: Arc::new(census), deadline }));
                    self.settings.lease / 3
                }
                Ok(Hold::Lost) => {
                    tracing::warn!(relay = %self.lease.relay, "the lease is lost; starting again under a new id");
                    self.lease.relay = new_id(&self.lease.host);
                    self.lease.first = true;
                    Duration::ZERO
                }
                Err(error) => {
                    complaint.failed(self.timer.now(), &error);
                    // Soon enough to save the lease, if it can be saved.
                    (self.settings.lease / 15).min(Duration::from_secs(1))
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.wanted.notified(), if !wait.is_zero() => {}
            }
        }
    }

    /// A subscription that is configured anew elsewhere is served no more: its name leaves the lease, so that the others do not
    /// leave lanes for this relay. Its pump goes on hearing of it, in case it missed the news.
    fn leave_outdated(&mut self, census: &mut Census) {
        let generations = &self.generations;
        let outdated = |found: &&SubscriptionCensus| generations.get(&found.name) != Some(&found.generation);
        for found in census.subscriptions.iter().filter(outdated) {
            self.lease.subscriptions.retain(|name| *name != found.name);
            self.outdated.push(SubscriptionCensus { lanes: Vec::new(), ..found.clone() });
            // The log learns of it now, and not only at the next renewal.
            self.wanted.notify_one();
        }
        let known = |name: &String| census.subscriptions.iter().any(|found| found.name == *name);
        let missing: Vec<_> = self.outdated.iter().filter(|found| !known(&found.name)).cloned().collect();
        census.subscriptions.extend(missing);
    }

    /// How long a renewal may take, so that another can still save the lease.
    fn patience(&self) -> Duration {
        (self.settings.lease / 3).max(Duration::from_secs(1))
    }
}

/// The first lease of a relay.
pub(super) fn new_lease(host: String, subscriptions: Vec<String>, time: Duration) -> Lease {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Lease { relay: new_id(&host), host, version, subscriptions, time, first: true }
}

fn new_id(host: &str) -> RelayId {
    RelayId(format!("{host}-{}-{:08x}", std::process::id(), fastrand::u32(..)))
}
