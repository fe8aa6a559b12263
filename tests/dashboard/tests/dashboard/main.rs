//! The dashboard in a real browser: the program serves its demo, Chromium looks at it.
//!
//! What is published here has keys of its own, so that the demo's own traffic does not matter.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod acting;
mod asking;
mod browser;
mod devtools;
mod looking;
mod pages;
mod program;
