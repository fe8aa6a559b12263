//! What is shown while the demo runs: a block of lines that is drawn again in place, or a line now and then
//! where nothing can be drawn again.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use super::subscribers::{INVOICES, PAYMENTS};
use crate::screen::{Look, counted, grouped, print};

/// How things stand.
pub(super) struct Snapshot {
    pub(super) elapsed: Duration,
    pub(super) duration: Duration,
    pub(super) committed: u64,
    pub(super) rolled_back: u64,
    pub(super) subscribers: [SubscriberProgress; 4],
    pub(super) down: bool,
    pub(super) replayed: bool,
}

pub(super) struct SubscriberProgress {
    pub(super) name: &'static str,
    pub(super) arrived: u64,
    pub(super) failures: u64,
}

pub(super) struct Progress {
    look: Look,
    is_live: bool,
    /// How many lines are on the screen that the next drawing replaces.
    drawn: usize,
}

impl Progress {
    pub(super) fn new(look: Look) -> Self {
        let can_move = std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb");
        Self { look, is_live: io::stdout().is_terminal() && can_move, drawn: 0 }
    }

    /// How long to wait between two drawings.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_millis(if self.is_live { 100 } else { 2_000 })
    }

    pub(super) fn draw(&mut self, now: &Snapshot) -> io::Result<()> {
        if !self.is_live {
            return print(&format!("{}\n", now.line()));
        }
        let block = now.block(self.look);
        print(&replace(self.drawn, &block))?;
        self.drawn = block.len();
        Ok(())
    }

    /// The last drawing stays.
    pub(super) fn finish(&mut self, now: &Snapshot) -> io::Result<()> {
        self.draw(now)
    }
}

/// Goes up over the lines before and writes each anew. Lines are not wrapped meanwhile: on a narrow terminal
/// that would put more lines on the screen than are counted.
fn replace(drawn: usize, block: &[String]) -> String {
    let up = if drawn == 0 { String::new() } else { format!("\x1b[{drawn}A") };
    let lines: String = block.iter().map(|line| format!("\x1b[2K{line}\n")).collect();
    format!("\x1b[?7l{up}{lines}\x1b[?7h")
}

impl Snapshot {
    /// Everything in one line.
    fn line(&self) -> String {
        let arrived = self.subscribers.iter().map(|one| format!("{} {}", one.name, one.arrived));
        let arrived: Vec<String> = arrived.collect();
        format!("{:>5.1} s  committed {}: {}", self.elapsed.as_secs_f64(), self.committed, arrived.join(", "))
    }

    fn block(&self, look: Look) -> Vec<String> {
        const CELLS: usize = 24;
        let share = (self.elapsed.as_secs_f64() / self.duration.as_secs_f64()).min(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to the number of cells"
        )]
        let full = (share * CELLS as f64) as usize;
        let bar = format!("{}{}", "━".repeat(full), look.faint("─".repeat(CELLS - full)));
        let mut lines = vec![format!(
            "  {:>4.1} s  {bar}  {} committed, {} rolled back",
            self.elapsed.as_secs_f64(),
            grouped(self.committed),
            grouped(self.rolled_back)
        )];
        lines.extend(self.subscribers.iter().map(|one| self.row(one, look)));
        lines
    }

    fn row(&self, one: &SubscriberProgress, look: Look) -> String {
        let waiting = self.committed.saturating_sub(one.arrived);
        let waiting = if waiting == 0 { String::new() } else { format!("{} waiting", grouped(waiting)) };
        let failures = counted(one.failures, "failure");
        let note = match one.name {
            PAYMENTS if self.down => look.bad("down".to_owned()),
            INVOICES if one.failures > 0 && self.replayed => look.good("dead letter replayed".to_owned()),
            INVOICES if one.failures > 0 => look.bad("1 dead letter".to_owned()),
            _ if one.failures > 0 => look.warning(failures),
            _ => look.faint(String::new()),
        };
        format!("  {:<10} {:>9} delivered  {waiting:<16} {note}", one.name, grouped(one.arrived))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot() -> Snapshot {
        let one = |name, arrived, failures| SubscriberProgress { name, arrived, failures };
        Snapshot {
            elapsed: Duration::from_millis(59_940),
            duration: Duration::from_secs(60),
            committed: 60_000,
            rolled_back: 5_000,
            subscribers: [
                one("warehouse", 60_000, 0),
                one("email", 12_345, 4_000),
                one(PAYMENTS, 1, 0),
                one(INVOICES, 59_999, 1),
            ],
            down: true,
            replayed: false,
        }
    }

    #[test]
    fn every_line_fits_80_columns() {
        for line in snapshot().block(Look::Plain) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn what_goes_wrong_is_shown_while_it_does() {
        let text = snapshot().block(Look::Plain).join("\n");
        for part in ["47,655 waiting", "4,000 failures", "down", "1 dead letter"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let repaired = Snapshot { replayed: true, down: false, ..snapshot() }.block(Look::Plain).join("\n");
        assert!(repaired.contains("dead letter replayed") && !repaired.contains("down"), "{repaired}");
    }

    #[test]
    fn a_block_replaces_the_one_before() {
        let block = ["a".to_owned(), "b".to_owned()];
        assert_eq!(replace(0, &block), "\x1b[?7l\x1b[2Ka\n\x1b[2Kb\n\x1b[?7h");
        assert!(replace(2, &block).contains("\x1b[2A"));
    }
}
