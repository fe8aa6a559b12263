//! A bar that grows while something is done, on a terminal; nothing anywhere else.

use std::io::{self, IsTerminal, Write};

use super::grouped;

/// Progress on standard error, drawn in place.
pub(crate) struct Progress {
    what: String,
    is_live: bool,
    is_drawn: bool,
}

impl Progress {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        let can_move = std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb");
        Self { what: what.into(), is_live: io::stderr().is_terminal() && can_move, is_drawn: false }
    }

    /// So many of so many are done.
    pub(crate) fn draw(&mut self, done: u64, all: u64) {
        self.show(&format!("{}  {} of {}", bar(done, all), grouped(done), grouped(all)));
    }

    /// Something that has no end to measure by.
    pub(crate) fn show(&mut self, text: &str) {
        if self.is_live {
            self.is_drawn = true;
            _ = write!(io::stderr(), "\r\x1b[2K{}  {text}", self.what);
        }
    }
}

impl Drop for Progress {
    /// What comes next begins where the bar was.
    fn drop(&mut self) {
        if self.is_drawn {
            _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

fn bar(done: u64, all: u64) -> String {
    const CELLS: u64 = 24;
    let filled = done.min(all) * CELLS / all.max(1);
    (0..CELLS).map(|cell| if cell < filled { '█' } else { '░' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_all_is_done_and_not_before() {
        let filled = |done, all| bar(done, all).chars().filter(|cell| *cell == '█').count();
        assert_eq!([filled(0, 10), filled(5, 10), filled(10, 10), filled(99, 10)], [0, 12, 24, 24]);
        assert_eq!((filled(999, 1_000), filled(0, 0)), (23, 0));
    }
}
