//! Processes, recognised even after their number was given to another, and who descends from whom.

use std::{
    fs,
    process::{Child, Command},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, kill_process};
use serde::{Deserialize, Serialize};

pub use rustix::process::Signal;

use crate::progress::Deadline;

/// A process that was seen running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number, which the system gives to another process some time after this one ended.
    pub pid: u32,
    /// When it started, in the system's own words: number and start together are one process.
    pub started: String,
}

impl Process {
    /// The process with this number, if it runs now.
    pub fn find(pid: u32) -> Option<Self> {
        row(pid).filter(Row::runs).map(|row| Self { pid, started: row.started })
    }

    /// A child of this program. As long as nobody waits for it, its number is its own, even if it has ended.
    pub(crate) fn of(child: &Child) -> Result<Self> {
        let pid = child.id();
        let row = row(pid).with_context(|| format!("the system does not know its process {pid}"))?;
        Ok(Self { pid, started: row.started })
    }

    /// This program.
    pub fn own() -> Option<Self> {
        Self::find(std::process::id())
    }

    /// Whether it still runs: this one, not another that got its number.
    pub fn is_alive(&self) -> bool {
        Self::find(self.pid).is_some_and(|found| found == *self)
    }

    /// Sends the signal; nothing happens if the process has ended.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_alive()) {
            // It may end between the look and the signal, which is what was wanted.
            let _ = kill_process(pid, signal);
        }
    }

    /// Sends the signal and waits; a process that does not end in time is killed.
    pub fn stop(&self, signal: Signal, patience: Duration) -> Result<()> {
        self.signal(signal);
        self.wait_or_kill(patience)
    }

    /// Waits for its end; a process that does not end in time is killed.
    pub fn wait_or_kill(&self, patience: Duration) -> Result<()> {
        if self.ends_within(patience) {
            return Ok(());
        }
        self.signal(Signal::KILL);
        if !self.ends_within(Duration::from_secs(10)) {
            bail!("process {} does not end, not even when killed", self.pid);
        }
        Ok(())
    }

    pub(crate) fn ends_within(&self, patience: Duration) -> bool {
        let deadline = Deadline::after(patience);
        while self.is_alive() {
            if deadline.is_over() {
                return false;
            }
            // Waits for a condition: the process has ended.
            thread::sleep(Duration::from_millis(10));
        }
        true
    }

    /// What it started and what that started, down to the last; without those that have ended.
    pub fn descendants(&self) -> Vec<Process> {
        let rows = rows();
        let mut found = vec![self.pid];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            found.extend(rows.iter().filter(|row| row.parent == parent && row.runs()).map(|row| row.pid));
            next += 1;
        }
        let is_below = |row: &Row| row.pid != self.pid && found.contains(&row.pid);
        rows.into_iter().filter(is_below).map(|row| Process { pid: row.pid, started: row.started }).collect()
    }
}

/// Waits, not for ever, until the system has forgotten a process that has ended. Until its parent has asked how, it is
/// still there for those who only look for its number. With one that runs, there is nothing to wait for.
pub(crate) fn wait_until_forgotten(pid: u32) {
    let deadline = Deadline::after(Duration::from_secs(15));
    while row(pid).is_some_and(|row| !row.runs()) && !deadline.is_over() {
        // Waits for a condition: the process is forgotten.
        thread::sleep(Duration::from_millis(10));
    }
}

/// What the system says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    pid: u32,
    parent: u32,
    state: char,
    started: String,
}

impl Row {
    /// A zombie has ended; only its parent has not asked how.
    fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X')
    }
}

fn row(pid: u32) -> Option<Row> {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse_stat(&stat),
        Err(_) if has_proc() => None,
        Err(_) => ps(&["-p", &pid.to_string()]).pop(),
    }
}

fn rows() -> Vec<Row> {
    if !has_proc() {
        return ps(&["-A"]);
    }
    let Ok(items) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = items.filter_map(|item| item.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(row).collect()
}

/// Linux has it; elsewhere `ps` is asked.
fn has_proc() -> bool {
    fs::exists("/proc/self/stat").unwrap_or(false)
}

/// Reads `/proc/PID/stat`: the second field, the name, is in parentheses and may hold anything, also parentheses.
fn parse_stat(stat: &str) -> Option<Row> {
    let pid = stat.split_once(' ')?.0.parse().ok()?;
    let after_name: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let field = |number: usize| after_name.get(number - 3).copied();
    Some(Row {
        pid,
        parent: field(4)?.parse().ok()?,
        state: field(3)?.chars().next()?,
        started: field(22)?.to_owned(),
    })
}

fn ps(which: &[&str]) -> Vec<Row> {
    let output = Command::new("ps").args(which).args(["-o", "pid=,ppid=,stat=,lstart="]).output();
    let Ok(output) = output else { return Vec::new() };
    String::from_utf8_lossy(&output.stdout).lines().filter_map(parse_ps).collect()
}

fn parse_ps(line: &str) -> Option<Row> {
    let mut words = line.split_whitespace();
    Some(Row {
        pid: words.next()?.parse().ok()?,
        parent: words.next()?.parse().ok()?,
        state: words.next()?.chars().next()?,
        started: words.collect::<Vec<_>>().join(" "),
    })
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// A process that ends when its input does, so that no test leaves one behind.
    fn child() -> Child {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn a_number_that_another_process_got_is_not_this_process() {
        let mut child = child();
        let process = Process::find(child.id()).unwrap();
        let earlier = Process { started: "another time".to_owned(), ..process.clone() };

        assert!(process.is_alive());
        assert!(!earlier.is_alive());
        earlier.stop(Signal::KILL, Duration::ZERO).unwrap();
        assert!(process.is_alive(), "a process that only has the same number was killed");

        process.stop(Signal::TERM, Duration::from_secs(60)).unwrap();
        assert!(!process.is_alive(), "a zombie has ended");
        child.wait().unwrap();
        assert_eq!(Process::find(process.pid), None);
    }

    #[test]
    fn finds_its_own_descendants() {
        let mut child = child();

        let found = Process::own().unwrap().descendants();

        assert!(found.iter().any(|process| process.pid == child.id()), "{found:?}");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn reads_what_the_system_says() {
        let stat = "42 (a) b) S 7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 98765 123 45 6\n";
        let row = Row { pid: 42, parent: 7, state: 'S', started: "98765".to_owned() };
        assert_eq!(parse_stat(stat), Some(row));

        let line = "   42     7 Ss   Sun Nov 15 13:46:19 2026    ";
        let row = Row { pid: 42, parent: 7, state: 'S', started: "Sun Nov 15 13:46:19 2026".to_owned() };
        assert_eq!(parse_ps(line), Some(row));

        assert_eq!(parse_stat("42 (a"), None);
        assert_eq!(parse_ps(""), None);
    }
}
