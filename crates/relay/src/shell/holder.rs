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
    pub(super) host: String,
    pub(super) subscriptions: Vec<String>,
    pub(super) prefix: String,
    pub(super) news: watch::Sender<Option<Held>>,
    /// Rung when a renewal is wanted now.
    pub(super) wanted: Arc<Notify>,
    /// The lease that was asked for last; kept when the loop is started anew, or the lanes would wait for its end.
    pub(super) lease: Option<Lease>,
}

impl Holder {
    /// Runs until it is cancelled; a failed renewal is tried again soon.
    pub(super) async fn run(&mut self) {
        let mut complaint = Complaint::new("hold", &self.prefix);
        loop {
            let mut lease = self.lease.take().unwrap_or_else(|| self.new_lease());
            self.lease = Some(lease.clone());
            let asked = self.timer.now();
            let wait = match within(self.settings.lease, self.log.hold(&lease)).await {
                Ok(Hold::Alive(census)) => {
                    complaint.succeeded(self.timer.now());
                    lease.first = false;
                    let deadline = asked + self.settings.sending_time();
                    let held = Held { me: lease.relay.clone(), census: Arc::new(census), deadline };
                    self.news.send_replace(Some(held));
                    self.settings.lease / 3
                }
                Ok(Hold::Lost) => {
                    tracing::warn!(relay = %lease.relay, "the lease is lost; starting again under a new id");
                    lease = self.new_lease();
                    Duration::ZERO
                }
                Err(error) => {
                    complaint.failed(self.timer.now(), &error);
                    // Soon enough to save the lease, if it can be saved.
                    (self.settings.lease / 15).min(Duration::from_secs(1))
                }
            };
            self.lease = Some(lease);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.wanted.notified(), if !wait.is_zero() => {}
            }
        }
    }

    fn new_lease(&self) -> Lease {
        let relay = RelayId(format!("{}-{}-{:08x}", self.host, std::process::id(), fastrand::u32(..)));
        Lease {
            relay,
            host: self.host.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            subscriptions: self.subscriptions.clone(),
            time: self.settings.lease,
            first: true,
        }
    }
}
