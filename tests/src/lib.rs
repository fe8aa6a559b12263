//! Tests that look at the whole: the real program end to end, and the rules that every file and package keeps.
//!
//! They are in `tests/`; what several of them need is here.
