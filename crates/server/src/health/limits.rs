//! From where on something counts as bad.

use std::time::Duration;

/// From where on something counts as bad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// How old the oldest event may be that is pending or failed.
    pub lag: Duration,
    /// How many events may be parked for a retry or behind one.
    pub retry_depth: u64,
    /// How large a share of the deliveries of the last quarter of an hour has to succeed.
    pub success_rate: f64,
    /// How many events may die in an hour.
    pub dead_per_hour: u64,
    /// How long a subscription with work may stand still. Longer than lanes without traffic take to note how far they have read.
    pub stalled: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lag: Duration::from_secs(60),
            retry_depth: 1_000,
            success_rate: 0.95,
            dead_per_hour: 10,
            stalled: Duration::from_secs(120),
        }
    }
}
