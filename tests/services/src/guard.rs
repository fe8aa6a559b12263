//! A server must not outlive the program that owns it, not even if that is killed and can do nothing any more.
//!
//! So a shell waits beside it, for the end of a pipe whose other end the owner holds. However the owner goes, the system
//! closes the pipe, and the shell ends the server. It is nobody's child, and in a group that no Ctrl-C reaches.

use std::{
    io::Read,
    os::unix::process::CommandExt,
    process::{ChildStdin, Command, Stdio},
};

use anyhow::{Context, Result};

use crate::process::{Process, Signal};

/// `$0` is the process and `$1` the signal. A shell gives what it puts into the background an empty input, hence the 3.
const SCRIPT: &str = r#"exec 3<&0; (read line <&3; kill -"$1" "$0") >/dev/null & echo $!"#;

/// Ends a server when this program ends before it.
pub(crate) struct Guard {
    shell: Option<Process>,
    /// Never written to.
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// From now on, the server gets this signal when this program ends.
    pub(crate) fn over(server: &Process, signal: Signal) -> Result<Self> {
        let (pid, signal) = (server.pid.to_string(), signal.as_raw().to_string());
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, &pid, &signal]).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = shell.spawn().context("cannot start sh")?;
        let pipe = child.stdin.take();
        let mut said = String::new();
        child.stdout.take().context("sh has no output")?.read_to_string(&mut said)?;
        child.wait()?;
        let pid = said.trim().parse().context("sh did not say which process waits")?;
        Ok(Self { shell: Process::find(pid), pipe })
    }
}

impl Drop for Guard {
    /// The server has ended, or shall live on: the shell goes before the pipe does.
    fn drop(&mut self) {
        self.shell.iter().for_each(|shell| shell.signal(Signal::KILL));
        self.pipe.take();
    }
}

#[cfg(test)]
mod tests {
    use std::{process::Child, time::Duration};

    use super::*;

    fn server() -> (Child, Process) {
        let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = Process::of(&child).unwrap();
        (child, process)
    }

    #[test]
    fn a_server_ends_when_its_owner_was_killed() {
        let (mut child, process) = server();
        let mut guard = Guard::over(&process, Signal::TERM).unwrap();

        // What the system does for an owner that is no more.
        guard.pipe.take();

        assert!(process.ends_within(Duration::from_secs(60)));
        child.wait().unwrap();
    }

    #[test]
    fn a_server_lives_on_when_its_guard_is_released() {
        let (mut child, process) = server();
        let guard = Guard::over(&process, Signal::TERM).unwrap();
        let shell = guard.shell.clone().unwrap();

        drop(guard);

        assert!(shell.ends_within(Duration::from_secs(60)));
        assert!(process.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
