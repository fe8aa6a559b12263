//! The tests of the dashboard, in `tests/dashboard`: the real program, looked at with a real browser.
