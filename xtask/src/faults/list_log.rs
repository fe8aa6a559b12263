//! The faults of the log in memory, which the simulation drives.

use super::{
    Fault,
    catcher::{simulation, tests},
};

const CHAIN: &str = "crates/core/src/memory/chain.rs";
const EVENTS: &str = "crates/core/src/memory/events.rs";
const HOLD: &str = "crates/core/src/memory/hold.rs";
const PARKED: &str = "crates/core/src/memory/parked.rs";
const APPEND: &str = "crates/core/src/memory/append.rs";
const PRUNE: &str = "crates/core/src/memory/prune.rs";
const RESET: &str = "crates/core/src/memory/reset.rs";
const READ: &str = "crates/core/src/memory/read.rs";

/// All faults of the log in memory.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "line-number-not-checked",
        breaks: "a relay that does not know the last line appends all the same (rule 4)",
        file: CHAIN,
        find: "Some(last) if last.n + 1 == act.n => {}",
        replace: "Some(last) if last.n + 1 == act.n || last.n >= act.n => {}",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "zombie-settle-admitted",
        breaks: "a settlement of a relay that lost its lane is answered as done (rule 4)",
        file: CHAIN,
        find: "            _ => return Link::Fenced,",
        replace: "            _ => return Link::Repeated,",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "stale-last-line-accepted-at-a-take-over",
        breaks: "a lane is taken with a cursor that is no longer its last line's (rule 4)",
        file: CHAIN,
        find: "Some(last) if last.n + 1 == act.n => {}",
        replace: "Some(last) if last.n + 1 == act.n || act.kind == ActKind::Taken => {}",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "repeat-known-by-its-relay-alone",
        breaks: "another act of the same relay under the same number is taken for a repeat (rule 4)",
        file: CHAIN,
        find: "Some(last) if last.is(relay, act) => return Link::Repeated,",
        replace: "Some(last) if last.relay.as_ref() == Some(relay) => return Link::Repeated,",
        caught_by: &[simulation(500), tests("posthaste-testkit")],
    },
    Fault {
        name: "late-renewal-crosses-a-take-over",
        breaks: "a relay whose row was removed renews its lease all the same (rule 3)",
        file: HOLD,
        find: "if !lease.first && !self.relays.contains_key(&lease.relay) {",
        replace: "if !lease.first && lease.relay.0.is_empty() {",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "lane-without-a-line-counts-as-new",
        breaks: "a subscription starts at now in a lane that has no first line (rule 2)",
        file: HOLD,
        find: "chain.last().is_none()) {",
        replace: "chain.last().is_none() && name.is_empty()) {",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "start-now-begins-at-the-beginning",
        breaks: "`start: now` delivers what was there before",
        file: "crates/core/src/memory/mod.rs",
        find: "Start::Now => self.log.last(),",
        replace: "Start::Now => Position(0),",
        caught_by: &[simulation(200)],
    },
    Fault {
        name: "position-used-twice-after-pruning",
        breaks: "a new event gets a position that cursors have passed (rule 2)",
        file: EVENTS,
        find: "        self.by_id.remove(&row.event.id);",
        replace: "        self.by_id.remove(&row.event.id);\n        self.last = self.rows.keys().next_back().copied().unwrap_or_default();",
        caught_by: &[simulation(1_000), tests("posthaste-testkit")],
    },
    Fault {
        name: "pruned-while-a-subscription-lags",
        breaks: "an event goes that one subscription has not settled (rule 2)",
        file: PRUNE,
        find: "        cursors.min()",
        replace: "        cursors.max()",
        caught_by: &[simulation(1_000), tests("posthaste-testkit")],
    },
    Fault {
        name: "parked-row-left-behind-a-dead-head",
        breaks: "events wait for a parked head that is gone",
        file: APPEND,
        find: "let parked = row.parked.remove(buried.position).map(|row| (row.event, row.defect));",
        replace: "let parked = row.parked.get(buried.position).map(|row| (row.event.clone(), row.defect.clone()));",
        caught_by: &[simulation(200)],
    },
    Fault {
        name: "delayed-event-blocks-its-key",
        breaks: "a reminder for tomorrow stops today's events (rule 5)",
        file: PARKED,
        find: "        !self.delayed || self.is_due(now)",
        replace: "        self.delayed || !self.delayed || self.is_due(now)",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "due-instant-missed",
        breaks: "what is due exactly now waits for another read",
        file: PARKED,
        find: "        self.due_at <= now",
        replace: "        self.due_at < now",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "follower-goes-before-its-head-is-due",
        breaks: "a parked follower overtakes its head, which waits for a retry (rule 5)",
        file: READ,
        find: "                    waiting.extend(key);",
        replace: "                    waiting.extend(key.filter(|key| key.is_empty()));",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "reset-under-a-live-holder",
        breaks: "an operator moves the cursor while a relay delivers (rule 4)",
        file: RESET,
        find: "        if holders.is_empty() {",
        replace: "        if holders.len() < usize::MAX {",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "reset-keeps-what-is-parked",
        breaks: "after a reset parked events go twice, or before earlier ones of their key",
        file: RESET,
        find: "                row.parked.remove(position);",
        replace: "                _ = position;",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "oversized-payload-yielded",
        breaks: "a payload over the limit is loaded and sent",
        file: READ,
        find: "        if size <= self.payload_limit {",
        replace: "        if size <= self.payload_limit * 2 {",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "poison-copied-as-it-was-read",
        breaks: "a dead letter has less of the event than the log had",
        file: APPEND,
        find: "                if let Some((event, defect)) = parked.or_else(logged) {",
        replace: "                if let Some((event, defect)) = parked.or_else(logged).filter(|_| false) {",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "late-delivery-not-in-the-journal",
        breaks: "an event that had to wait is told as delivered when it was parked",
        file: APPEND,
        find: "                if let Some(before) = row.parked.remove(*position) {",
        replace: "                if let Some(before) = row.parked.remove(*position).filter(|row| row.last_error.is_some()) {",
        caught_by: &[tests("posthaste-testkit")],
    },
    Fault {
        name: "numbers-of-a-dropped-subscription-used-again",
        breaks: "a relay that served a subscription before it was dropped meets a number of its own (rule 4)",
        file: RESET,
        find: "            self.dropped.line = lines.fold(self.dropped.line, i64::max);",
        replace: "            self.dropped.line = lines.fold(self.dropped.line, i64::min);",
        caught_by: &[tests("posthaste-testkit")],
    },
];
