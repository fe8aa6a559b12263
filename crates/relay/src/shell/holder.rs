//! Holding: enrols the relay, renews its lease, and tells the pumps how the lanes stand.
//!
//! It has a loop of its own, so that no slow read or delivery makes a renewal late.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Census, Hold, Lease, Log, RelayId};
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
                Ok(Hold::Alive(census)) => {
                    complaint.succeeded(self.timer.now());
                    self.lease.first = false;
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
