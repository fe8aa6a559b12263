//! Requests and answers on their way. Each travels by itself, and the schedule decides when it arrives, if it does.

use std::{sync::Arc, time::Duration};

use posthaste_core::{Act, Appended, Delivery, Entry, Fault, Hold, Lane, Lease, Page, Read, RelayId};
use posthaste_relay::Moment;

/// Something on its way between a relay and the log or a sink.
#[derive(Debug)]
pub(super) struct Message {
    /// The life of the relay it belongs to; a crashed relay's answers reach nobody.
    pub(super) life: u64,
    /// The id under which the relay sent it.
    pub(super) sender: RelayId,
    /// The subscription it concerns; not used by leases.
    pub(super) subscription: usize,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    ReadAsked(Read),
    ReadAnswered(Option<Page>),
    AppendAsked(Arc<[Act]>),
    AppendAnswered(Option<Vec<Appended>>),
    AppendRefused,
    HoldAsked { lease: Lease, asked: Moment },
    HoldAnswered { hold: Option<Hold>, asked: Moment },
    Pinged(Result<(), Fault>),
    PingAsked,
    Sending(Sending),
}

/// A batch at a sink, entry by entry.
#[derive(Debug)]
pub(super) struct Sending {
    pub(super) lane: Lane,
    pub(super) entries: Vec<Entry>,
    pub(super) deliveries: Vec<Delivery>,
    pub(super) until: Moment,
    pub(super) hot: bool,
    pub(super) began: Duration,
}

impl Body {
    /// Whether a crash of the relay ends it. What has been asked of the log arrives all the same.
    pub(super) fn dies_with_its_relay(&self) -> bool {
        !matches!(self, Body::ReadAsked(_) | Body::AppendAsked(_) | Body::HoldAsked { .. })
    }
}
