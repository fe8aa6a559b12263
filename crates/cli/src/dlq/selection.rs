//! Which dead letters are meant.

use clap::Args;
use posthaste::{DeadFilter, DeadReason, ErrorText, Timestamp};

use crate::screen::parse_time;

#[derive(Args, Clone)]
#[group(skip)]
pub(super) struct Options {
    /// Only of this subscription
    #[arg(long, value_name = "NAME")]
    pub(super) subscription: Option<String>,
    /// Only for this reason: max_retries_exceeded, poison_message, schema_validation_failed,
    /// processing_timeout or permanent_failure
    #[arg(long, value_name = "REASON")]
    reason: Option<DeadReason>,
    /// Only of this event type
    #[arg(long = "type", value_name = "TYPE")]
    event_type: Option<String>,
    /// Only of this topic
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Only of this key
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// Only with a first line of the error that begins so
    #[arg(long, value_name = "TEXT")]
    error: Option<String>,
    /// Only those that died at this time or later: a time in UTC, or how long ago, such as 2h
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,
    /// Only those that died before this time
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Timestamp>,
}

impl Options {
    pub(super) fn filter(&self) -> DeadFilter {
        DeadFilter {
            subscription: self.subscription.clone(),
            reason: self.reason,
            event_type: self.event_type.clone(),
            topic: self.topic.clone(),
            key: self.key.clone(),
            error: self.error.clone().map(ErrorText::Beginning),
            moved_after: self.since,
            moved_before: self.until,
            ..DeadFilter::default()
        }
    }
}

/// The filter in words, for questions and jobs.
pub(crate) fn in_words(filter: &DeadFilter) -> String {
    let text = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("{name} {value}"));
    let error = filter.error.as_ref().and_then(|error| error.line().or(error.beginning()));
    let time = |name: &str, time: Option<Timestamp>| {
        time.map(|time| format!("{name} {}", crate::screen::stamp(time)))
    };
    let parts = [
        text("subscription", &filter.subscription),
        filter.reason.map(|reason| format!("reason {reason}")),
        text("type", &filter.event_type),
        text("topic", &filter.topic),
        text("key", &filter.key),
        error.map(|error| format!("error {error:?}")),
        time("since", filter.moved_after),
        time("until", filter.moved_before),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "all".to_owned() } else { parts.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_told_in_words() {
        assert_eq!(in_words(&DeadFilter::default()), "all");
        let filter = DeadFilter {
            subscription: Some("mail".to_owned()),
            reason: Some(DeadReason::PoisonMessage),
            error: Some(ErrorText::Beginning("not JSON".to_owned())),
            ..DeadFilter::default()
        };
        assert_eq!(in_words(&filter), "subscription mail, reason poison_message, error \"not JSON\"");
    }
}
