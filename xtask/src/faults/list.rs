//! The faults of the engine. To add one, copy a block: a name, what it breaks, where, what is replaced by what, and
//! who catches it. Those of logs stand in files of their own.
//!
//! `find` must stand in the file exactly once; take a whole expression, so that the fault stays readable. A test of
//! this program tells when the code has changed and a fault no longer fits.

use super::{
    Fault,
    catcher::{simulation, some_tests, tests},
};

const BALANCE: &str = "crates/relay/src/machine/balance.rs";
const FLIGHT: &str = "crates/relay/src/machine/flight.rs";
const HOT: &str = "crates/relay/src/machine/hot.rs";
const LANE: &str = "crates/relay/src/machine/lane.rs";
const MACHINE: &str = "crates/relay/src/machine/mod.rs";
const READING: &str = "crates/relay/src/machine/reading.rs";
const REFUSAL: &str = "crates/relay/src/machine/refusal.rs";
const RETRY: &str = "crates/core/src/retry.rs";
const SETTLING: &str = "crates/relay/src/machine/settling.rs";

/// All faults of the engine, in the order they run. Those of one file stand together: its next build is then the
/// shortest.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "outage-counted-as-an-attempt",
        breaks: "a destination that is down uses up the attempts of its events (rule 7)",
        file: RETRY,
        find: "FaultKind::Unavailable => return Outcome::Undecided { retry_after: None },",
        replace: "FaultKind::Unavailable => attempts.saturating_add(1),",
        caught_by: &[tests("posthaste-core"), simulation(500)],
    },
    Fault {
        name: "one-attempt-too-many",
        breaks: "an event is tried once more than its policy allows (rule 8)",
        file: RETRY,
        find: "attempts >= self.max_attempts",
        replace: "attempts > self.max_attempts",
        caught_by: &[tests("posthaste-core")],
    },
    Fault {
        name: "cursor-moved-before-delivery",
        breaks: "a batch is settled while it is still on the wire (rule 6)",
        file: FLIGHT,
        find: "    pub(super) fn is_done(&self) -> bool {\n        self.pending.is_empty() && self.sending.is_none()",
        replace: "    pub(super) fn is_done(&self) -> bool {\n        self.pending.is_empty()",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "key-not-parked-behind-its-head",
        breaks: "an event is sent although an earlier one of its key is parked (rule 5)",
        file: FLIGHT,
        find: "let waits = entry.blocked && from_log && desk.subscription.order == Order::Key;",
        replace: "let waits = false && entry.blocked && from_log && desk.subscription.order == Order::Key;",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "next-of-a-key-sent-after-its-head-failed",
        breaks: "what is behind a fault in a batch is sent again in that batch (rule 5)",
        file: FLIGHT,
        find: "    fn park_halted(&mut self) {\n        if self.halted.is_empty() {",
        replace: "    fn park_halted(&mut self) {\n        if self.halted.len() < usize::MAX {",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "dead-head-kept-only-in-memory",
        breaks: "the next of a key goes before its dead head is written (rule 6)",
        file: FLIGHT,
        find: "Outcome::Dead { attempts, reason } => {\n                self.halt(&entry, desk.subscription);",
        replace: "Outcome::Dead { attempts, reason } => {",
        caught_by: &[some_tests("posthaste-relay", "--test machine"), simulation(2_000)],
    },
    Fault {
        name: "dead-head-does-not-hold",
        breaks: "`on_dead: hold` is forgotten when the dead letter is written",
        file: FLIGHT,
        find: "let holds = desk.subscription.on_dead == OnDead::Hold",
        replace: "let holds = desk.subscription.on_dead != desk.subscription.on_dead",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "outcomes-dropped-at-an-outage",
        breaks: "what was delivered before the destination went down in mid-batch is sent again (rule 6)",
        file: FLIGHT,
        find: "Delivery::Delivered => self.deliver(&entry),\n                Delivery::NotSent",
        replace: "Delivery::Delivered if desk.circuit.is_closed() => self.deliver(&entry),\n                Delivery::Delivered => again.push(entry),\n                Delivery::NotSent",
        caught_by: &[simulation(1_000)],
    },
    Fault {
        name: "parked-event-not-removed-when-delivered",
        breaks: "a parked event is delivered again and again (rule 6)",
        file: FLIGHT,
        find: "        self.delivered += 1;\n        if entry.origin == Origin::Parked {",
        replace: "        self.delivered += 1;\n        if entry.origin == Origin::Log && entry.blocked {",
        caught_by: &[simulation(200)],
    },
    Fault {
        name: "abandoned-flight-forgets-the-rest",
        breaks: "what was not sent of a half-delivered batch is lost when the lane is given back (rule 6)",
        file: FLIGHT,
        find: "        for entry in std::mem::take(&mut self.pending) {\n            self.park_behind(entry);",
        replace: "        for entry in std::mem::take(&mut self.pending) {\n            drop(entry);",
        caught_by: &[simulation(2_000)],
    },
    Fault {
        name: "delayed-event-sent-at-once",
        breaks: "`deliver_after` is ignored",
        file: FLIGHT,
        find: "} else if entry.delayed && from_log {",
        replace: "} else if false && entry.delayed && from_log {",
        caught_by: &[some_tests("posthaste-relay", "--test machine")],
    },
    Fault {
        name: "send-after-the-deadline",
        breaks: "a relay sends although its lease may be lost (rule 3)",
        file: MACHINE,
        find: "self.deadline.filter(|deadline| free && now < *deadline)",
        replace: "self.deadline.filter(|deadline| free && (now < *deadline || now >= *deadline))",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "hot-event-delivered-again-from-the-log",
        breaks: "what was delivered from memory is not remembered (rule 6)",
        file: HOT,
        find: "held.hot.insert(entry.position);",
        replace: "",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "hot-path-overtakes",
        breaks: "an event with a key is delivered from memory, before earlier ones of its key (rule 5)",
        file: HOT,
        find: "let fits = !ordered && !entry.delayed",
        replace: "let fits = (ordered || !ordered) && !entry.delayed",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "hot-event-that-was-read-already",
        breaks: "an event goes from memory although the log has yielded it (rule 6)",
        file: LANE,
        find: "            && position > self.seen\n",
        replace: "            && position > Position::default()\n",
        caught_by: &[simulation(2_000)],
    },
    Fault {
        name: "read-ahead-kept-after-parking",
        breaks: "entries read before their key was parked are sent (rule 5)",
        file: LANE,
        find: "            self.troubled = true;\n            self.forget(epoch);",
        replace: "            self.troubled = true;\n            self.epoch = epoch;",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "parked-read-while-being-unparked",
        breaks: "parked entries are read again while their settlement is on its way (rule 6)",
        file: LANE,
        find: "            && !self.appending\n            && !self.is_kept_small()",
        replace: "            && !self.is_kept_small()",
        caught_by: &[simulation(2_000)],
    },
    Fault {
        name: "given-back-with-work-on-the-wire",
        breaks: "a planned hand-over repeats what is on the wire (rule 6)",
        file: LANE,
        find: "self.giving_back && !self.appending && !on_wire && self.hot.is_empty()",
        replace: "self.giving_back && !self.appending && (on_wire || !on_wire) && self.hot.is_empty()",
        caught_by: &[simulation(1_000)],
    },
    Fault {
        name: "given-back-with-hot-events-not-passed",
        breaks: "the next holder delivers again what went from memory (rule 6)",
        file: LANE,
        find: "self.giving_back && !self.appending && !on_wire && self.hot.is_empty()",
        replace: "self.giving_back && !self.appending && !on_wire",
        caught_by: &[simulation(2_000)],
    },
    Fault {
        name: "stale-page-accepted",
        breaks: "a page that was asked for before the lane's keys were parked is believed (rule 5)",
        file: READING,
        find: "is_some_and(|held| held.epoch == *epoch && goes_on(held))",
        replace: "is_some_and(|held| (held.epoch == *epoch || held.epoch != *epoch) && goes_on(held))",
        caught_by: &[simulation(2_000)],
    },
    Fault {
        name: "hold-forgotten-at-a-hand-over",
        breaks: "the next holder of a lane does not ask for dead letters that hold their key",
        file: READING,
        find: "hold_dead: self.subscription.on_dead == OnDead::Hold,",
        replace: "hold_dead: self.subscription.on_dead == OnDead::Hold && self.generation < 0,",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "batch-cut-reaches-too-far",
        breaks: "the first part of a page moves the cursor past the second (rule 2)",
        file: READING,
        find: "batches.push(batch(part, reach.start.moved_to(last)));",
        replace: "batches.push(batch(part, reach.start.moved_to(last.max(reach.end.after))));",
        caught_by: &[simulation(2_000)],
    },
    Fault {
        name: "taken-twice",
        breaks: "a lane whose take is on its way is taken again, and its batch booked on other entries (rule 2)",
        file: BALANCE,
        find: "self.lanes.contains_key(&line.lane) || self.is_being_taken(line.lane);",
        replace: "self.lanes.contains_key(&line.lane);",
        caught_by: &[some_tests("posthaste-relay", "--test machine")],
    },
    Fault {
        name: "retaken-with-a-batch-on-the-wire",
        breaks: "a lane that was lost is taken again before its former batch is back (rule 5)",
        file: BALANCE,
        find: "!held_elsewhere && !ours && !self.zombies.contains(line.lane)",
        replace: "!held_elsewhere && !ours",
        caught_by: &[some_tests("posthaste-relay", "--test machine")],
    },
    Fault {
        name: "lanes-of-a-live-relay-taken",
        breaks: "a relay takes lanes whose holder is alive (rule 3)",
        file: BALANCE,
        find: "is_some_and(|holder| holder != me);",
        replace: "is_some_and(|holder| holder == me && holder != me);",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "lost-answer-taken-for-done",
        breaks: "a settlement whose answer was lost is not looked up (rule 4)",
        file: SETTLING,
        find: "            appending.again_at = Some(now + appending.wait.min(SLOWEST_RETRY));\n            appending.wait = (appending.wait * 2).min(SLOWEST_RETRY.max(appending.wait));\n            return;",
        replace: "            let all = vec![Appended::Done; appending.acts.len()];\n            return self.appended(now, Some(all));",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "fenced-lane-kept",
        breaks: "a relay goes on with a lane that somebody else has (rule 4)",
        file: SETTLING,
        find: "                Appended::Fenced => self.line_refused(act),",
        replace: "                Appended::Fenced => self.line_written(now, act, &taking),",
        caught_by: &[simulation(500)],
    },
    Fault {
        name: "refused-act-stops-every-lane",
        breaks: "what the database refuses is appended together with the others again and again, and nobody is settled",
        file: REFUSAL,
        find: "            _ => self.aside.extend(appending.split()),",
        replace: "            _ => {\n                let mut again = appending;\n                again.again_at = Some(now + Duration::from_secs(1));\n                self.aside.push(again);\n            }",
        caught_by: &[some_tests("posthaste-relay", "--test machine")],
    },
    Fault {
        name: "refused-act-forgotten",
        breaks: "an act that the database refused is never appended again, and its lane stands for ever",
        file: REFUSAL,
        find: "            self.aside.push(refused);",
        replace: "            drop(refused);",
        caught_by: &[simulation(500), some_tests("posthaste-relay", "--test machine")],
    },
    Fault {
        name: "refused-lanes-fill-the-memory",
        breaks: "lanes that have to wait for the database read on until no other lane has room (rule 10)",
        file: LANE,
        find: "(!self.giving_back || !self.hot.is_empty()) && !self.is_kept_small() && !self.refused",
        replace: "(!self.giving_back || !self.hot.is_empty()) && !self.is_kept_small()",
        caught_by: &[some_tests("posthaste-relay", "--test machine")],
    },
];
