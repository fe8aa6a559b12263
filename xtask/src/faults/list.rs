//! The faults. To add one, copy a block: a name, what it breaks, where, what is replaced by what, and who catches it.
//!
//! `find` must stand in the file exactly once; take a whole expression, so that the fault stays readable. A test of
//! this program tells when the code has changed and a fault no longer fits.

use super::{Fault, catcher::tests};

/// All faults, in the order they run. Those of one file stand together: its next build is then the shortest.
pub(crate) const FAULTS: &[Fault] = &[
    Fault {
        name: "outage-counted-as-an-attempt",
        breaks: "a destination that is down uses up the attempts of its events (rule 7)",
        file: "crates/core/src/retry.rs",
        find: "FaultKind::Unavailable => return Outcome::Undecided { retry_after: None },",
        replace: "FaultKind::Unavailable => attempts.saturating_add(1),",
        caught_by: &[tests("posthaste-core")],
    },
    Fault {
        name: "one-attempt-too-many",
        breaks: "an event is tried once more than its policy allows (rule 8)",
        file: "crates/core/src/retry.rs",
        find: "attempts >= self.max_attempts",
        replace: "attempts > self.max_attempts",
        caught_by: &[tests("posthaste-core")],
    },
];
