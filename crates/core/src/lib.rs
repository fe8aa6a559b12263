//! The words of Posthaste, as types: events, entries, lanes, lines, faults and outcomes; the traits that
//! databases and destinations implement; and the retry policy.
//!
//! Nothing in here does I/O, knows a driver or looks at a clock: time is an argument, so that tests own it.

mod admin;
mod capabilities;
pub mod driver;
mod error;
mod event;
mod event_id;
mod fault;
mod log;
pub mod memory;
mod names;
mod overrides;
mod position;
mod published;
mod retry;
mod sink;
mod subscription;
mod time;
mod upkeep;

pub use admin::{
    Act as OperatorAct, Admin, AuditEntry, AuditFilter, DeadFilter, DeadGroup, DeadLetter, Diagnose, Edit,
    ErrorText, EventFilter, EventStatus, EventSummary, Extent, Finding, Foreseen, Inspect, Job, JobKind,
    JobRequest, JobState, Jobs, LaneStatus, Look, MAX_BATCH, MAX_COUNTED, MAX_GROUPS, MAX_IDS, MAX_JOBS,
    Paged, RelayStatus, ResetTo, Sample, Sort, Status, StatusWord, SubscriptionStatus, Timeline,
    TimelineItem, Verdict, error_line, index_names, letters_text, page_size,
};
pub use capabilities::Capabilities;
pub use error::{Error, ErrorKind, Result};
pub use event::{
    DEFAULT_EVENT_VERSION, DEFAULT_PAYLOAD_LIMIT, Event, EventBuilder, EventRules, IntoEvent, Payload, Stamp,
    TopicRule, oversized,
};
pub use event_id::EventId;
pub use fault::{DeadReason, Delivery, Fault, FaultKind, MAX_ERROR_CHARS, cut_error};
pub use log::{
    Act, ActKind, Appended, Buried, Census, Change, Due, Hold, LaneCensus, Lease, Limit, Log, Page, Parked,
    Read, RelayId, Subscribed, SubscriptionCensus,
};
pub use names::{AggregateType, EventType};
pub use overrides::RetryOverrides;
pub use position::{Cursor, Entry, Lane, LaneSet, MAX_LANES, Origin, Position, Snapshot};
pub use published::{Published, Spot, Unpublished};
pub use retry::{Outcome, RetryPolicy};
pub use sink::Sink;
pub use subscription::{Filter, OnDead, Order, Pattern, Start, Subscription};
pub use time::{Clock, SystemClock, Timestamp};
pub use upkeep::{Pruned, Retention, Upkeep, Worked};
