//! Saying what is done and how long it took, and running programs that take long without falling silent.
//!
//! Everything goes to the error output: the standard output belongs to the command that uses this.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How often a program that takes long is reported to be alive.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The moment after which something is given up.
pub(crate) struct Deadline(Instant);

impl Deadline {
    pub(crate) fn after(time: Duration) -> Self {
        Self(Instant::now() + time)
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.0
    }
}

/// Writes a line to the error output. If nobody reads that any more, servers must be stopped all the same, so that is
/// no reason to panic.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Does one step, and says in one line what it was and how long it took.
pub(crate) fn step<T>(what: &str, act: impl FnOnce() -> Result<T>) -> Result<T> {
    let begun = Instant::now();
    let result = act();
    let failed = if result.is_ok() { "" } else { ", FAILED" };
    say(&format!("  {what}: {:.1} s{failed}", begun.elapsed().as_secs_f64()));
    result
}

/// Runs a program with its output in a file. While it runs, the last line of that is shown from time to time; if it
/// fails, the end of it is part of the error.
pub(crate) fn run_logged(command: &mut Command, log: &Path) -> Result<()> {
    let line = line(command);
    let output = File::create(log).with_context(|| format!("cannot create {}", log.display()))?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let mut child = command.spawn().with_context(|| format!("cannot start {line}"))?;

    let begun = Instant::now();
    let mut shown = begun;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if shown.elapsed() > HEARTBEAT {
            shown = Instant::now();
            say(&format!("    … {:.0} s: {}", begun.elapsed().as_secs_f64(), tail(log, 1).trim()));
        }
        // Waits for a condition: the program has ended.
        thread::sleep(Duration::from_millis(20));
    };
    if !status.success() {
        bail!("{line} ended with {status}; it said:\n{}", tail(log, 20));
    }
    Ok(())
}

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The last lines of a file that are not empty.
pub(crate) fn tail(file: &Path, lines: usize) -> String {
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &all[all.len().saturating_sub(lines)..];
    last.iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_is_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");

        run_logged(Command::new("sh").args(["-c", "echo fine"]), &log).unwrap();
        let error = run_logged(Command::new("sh").args(["-c", "echo why; exit 3"]), &log).unwrap_err();

        let text = error.to_string();
        assert!(text.contains("sh -c echo why; exit 3") && text.ends_with("    why"), "{text}");
        assert!(run_logged(&mut Command::new("no-such-program"), &log).is_err());
    }

    #[test]
    fn the_end_of_a_log_is_its_last_lines() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        fs::write(&log, "one\ntwo\n\nthree\n").unwrap();

        assert_eq!(tail(&log, 2), "    two\n    three");
        assert_eq!(tail(&log, 9), "    one\n    two\n    three");
        assert_eq!(tail(&folder.path().join("nothing"), 9), "");
    }
}
