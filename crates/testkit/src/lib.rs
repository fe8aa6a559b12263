//! What tests of logs, sinks and relays have in common: the [`conformance`] suite for logs, a sink and a log that fail
//! on purpose, a clock that a test moves, the [`history`] checker, and the [`simulation`] of whole worlds. It knows
//! traits, not drivers.

mod clock;
pub mod conformance;
pub mod failing_log;
pub mod flaky;
pub mod history;
pub mod simulation;

pub use clock::ManualClock;
pub use failing_log::FailingLog;
pub use flaky::FlakySink;
