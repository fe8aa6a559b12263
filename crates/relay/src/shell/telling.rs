//! Turns the machine's notes into logs and metrics.

use super::complaint::Seldom;
use crate::{machine::Note, metric::Metrics};

pub(super) fn tell(subscription: &str, metrics: &Metrics, seldom: &Seldom, note: Note) {
    match note {
        Note::Failed { id, position, attempts, due_in, kind, reason, error } => {
            metrics.failed(kind, reason, due_in);
            tracing::debug!(subscription, %id, %position, attempts, ?due_in, error, "delivery failed; it is tried again");
        }
        Note::Died { id, position, attempts, reason, error } => {
            metrics.died(reason);
            tracing::error!(subscription, %id, %position, attempts, %reason, error, "event became a dead letter");
        }
        Note::CircuitOpened { error } => {
            metrics.unreachable();
            tracing::warn!(
                subscription,
                error,
                "the destination is down; nothing is sent until it answers a ping"
            );
        }
        Note::CircuitClosed => tracing::info!(subscription, "the destination answers again"),
        Note::Throttled { wait } => tracing::info!(subscription, ?wait, "the destination asks to wait"),
        Note::Taken(lane) => tracing::debug!(subscription, %lane, "lane taken"),
        Note::GivenBack(lane) => tracing::debug!(subscription, %lane, "lane given back"),
        Note::Fenced(lane) => {
            metrics.fenced.increment(1);
            tracing::warn!(subscription, %lane, "lane lost; what was not settled is delivered again");
        }
        // Each lane that stops is told of; that it still stands, or could not be taken, only now and then.
        Note::Refused { lane, error, first } if first || seldom.is_time() => tracing::error!(
            subscription,
            %lane,
            error,
            "the database refuses what became of a lane; it waits and is tried again, the others go on"
        ),
        Note::Refused { .. } => {}
        Note::Accepted(lane) => {
            tracing::info!(subscription, %lane, "the database has taken what it had refused; the lane goes on");
        }
        Note::Voided { lanes } => {
            metrics.fenced.increment(u64::from(lanes));
            tracing::warn!(
                subscription,
                lanes,
                "the database has crashed and recovered; lanes are taken again, what was not settled is delivered again"
            );
        }
        Note::Outdated { ours, stored } => tracing::error!(
            subscription,
            ours,
            stored,
            "the subscription is configured differently elsewhere; restart this relay with the same filter and order"
        ),
        Note::Skipped(count) => metrics.skipped.increment(count),
        // They were counted as delivered when they were.
        Note::PassedHot(_) => {}
    }
}
