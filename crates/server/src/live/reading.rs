//! What the engine in this process has counted up to now, for each subscription: read from the same text that Prometheus reads, so
//! that charts here and there show the same.

use std::collections::BTreeMap;

use crate::exporter::BUCKETS;

/// Everything that was counted, by subscription.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading(pub(crate) BTreeMap<String, Counted>);

/// What was counted for one subscription since the process began.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    pub(crate) delivered: f64,
    pub(crate) failed: f64,
    pub(crate) dead: f64,
    pub(crate) skipped: f64,
    pub(crate) circuit_open: bool,
    /// How many deliveries were at most as late as each bound of the histogram.
    pub(crate) latency: [f64; BUCKETS.len()],
    pub(crate) latency_count: f64,
}

impl Counted {
    /// Everything that became of an entry: whatever moves, one of these does.
    pub(crate) fn moved(&self) -> f64 {
        self.delivered + self.failed + self.dead + self.skipped
    }
}

const DELIVERED: &str = "events_delivered_total";
const FAILED: &str = "events_failed_total";
const DEAD: &str = "events_dlq_total";
const SKIPPED: &str = "events_skipped_total";
const CIRCUIT: &str = "circuit_open";
const LATENCY: &str = "end_to_end_latency_seconds";

/// Reads what is exported under this prefix.
pub(crate) fn read(text: &str, prefix: &str) -> Reading {
    let mut reading = Reading::default();
    for line in text.lines() {
        let Some((name, labels, value)) = parse(line) else { continue };
        let Some(name) = name.strip_prefix(prefix).and_then(|name| name.strip_prefix('_')) else { continue };
        let Some(subscription) = label(labels, "subscription") else { continue };
        let counted = reading.0.entry(subscription).or_default();
        match name {
            DELIVERED => counted.delivered += value,
            FAILED => counted.failed += value,
            // One for each reason.
            DEAD => counted.dead += value,
            SKIPPED => counted.skipped += value,
            CIRCUIT => counted.circuit_open = value > 0.0,
            _ => read_latency(counted, name, labels, value),
        }
    }
    reading
}

fn read_latency(counted: &mut Counted, name: &str, labels: &str, value: f64) {
    match name.strip_prefix(LATENCY) {
        Some("_count") => counted.latency_count = value,
        Some("_bucket") => {
            let bound = label(labels, "le").and_then(|bound| bound.parse::<f64>().ok());
            let index = bound.and_then(|bound| BUCKETS.iter().position(|known| (known - bound).abs() < 1e-9));
            if let Some(index) = index {
                counted.latency[index] = value;
            }
        }
        _ => {}
    }
}

/// The name, the labels and the value of a line.
fn parse(line: &str) -> Option<(&str, &str, f64)> {
    let (rest, value) = line.rsplit_once(' ')?;
    let (name, labels) = rest.split_once('{')?;
    Some((name, labels.strip_suffix('}')?, value.parse().ok()?))
}

/// The value of a label. Names of subscriptions have no quotes or backslashes in them.
fn label(labels: &str, name: &str) -> Option<String> {
    labels.split("\",").find_map(|pair| {
        let (found, value) = pair.split_once("=\"")?;
        (found == name).then(|| value.trim_end_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use posthaste::metric;

    use super::*;
    use crate::exporter::Exporter;

    #[test]
    fn reads_what_the_exporter_writes() {
        let (recorder, exporter) = Exporter::new("shop").unwrap();
        metrics::with_local_recorder(&recorder, || {
            metric::describe("shop");
            metrics::counter!("shop_events_delivered_total", "subscription" => "a-b.c").increment(7);
            metrics::counter!("shop_events_dlq_total", "subscription" => "a-b.c", "reason" => "x")
                .increment(1);
            metrics::counter!("shop_events_dlq_total", "subscription" => "a-b.c", "reason" => "y")
                .increment(2);
            metrics::counter!("shop_events_failed_total", "subscription" => "d").increment(4);
            metrics::gauge!("shop_circuit_open", "subscription" => "d").set(1.0);
            metrics::counter!("other_events_failed_total", "subscription" => "d").increment(9);
            for seconds in [0.002, 0.002, 0.3] {
                metrics::histogram!("shop_end_to_end_latency_seconds", "subscription" => "d").record(seconds);
            }
        });

        let reading = read(&exporter.render(), "shop");
        let (first, second) = (&reading.0["a-b.c"], &reading.0["d"]);
        assert_eq!((first.delivered, first.dead, first.circuit_open), (7.0, 3.0, false));
        assert_eq!((second.failed, second.circuit_open, second.latency_count), (4.0, true, 3.0));
        assert_eq!((second.latency[0], second.latency[1], second.latency[8]), (0.0, 2.0, 3.0));
        assert_eq!(first.moved(), 10.0);
    }

    #[test]
    fn the_engine_has_these_names() {
        for name in [DELIVERED, FAILED, DEAD, SKIPPED, CIRCUIT, LATENCY] {
            assert!(metric::ALL.iter().any(|(known, _, _)| *known == name), "{name}");
        }
    }
}
