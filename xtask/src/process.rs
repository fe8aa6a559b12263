//! Running other programs: with a time limit, and with their output in a file.

use std::{
    fs::File,
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Passed,
    Failed,
    TimedOut,
}

/// Runs the command in the foreground and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    check(command, status)
}

/// Fails if the program did.
pub(crate) fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// The command as one would type it.
pub(crate) fn line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs the command with its output in these files; after the limit it is killed, with everything it started.
pub(crate) fn run_limited(
    command: &mut Command,
    limit: Duration,
    stdout: &Path,
    stderr: &Path,
) -> Result<End> {
    let create =
        |path: &Path| File::create(path).with_context(|| format!("cannot create {}", path.display()));
    let out = create(stdout)?;
    let err = if stderr == stdout { out.try_clone()? } else { create(stderr)? };
    command.stdin(Stdio::null()).stdout(out).stderr(err);
    lead_a_group(command);
    let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;

    let started = Instant::now();
    // Looks often at first: most programs end at once, and no run should wait for its end to be noticed.
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { End::Passed } else { End::Failed });
        }
        if started.elapsed() > limit {
            kill_group(&mut child);
            child.wait()?;
            return Ok(End::TimedOut);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Cargo starts the program that may hang; only a group reaches both.
#[cfg(unix)]
fn lead_a_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    command.process_group(0);
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    // Without `kill` at least cargo itself goes.
    if Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status().is_err() {
        let _ = child.kill();
    }
}

#[cfg(not(unix))]
fn lead_a_group(_: &mut Command) {}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use super::*;

    fn limited(script: &str, limit: Duration) -> (End, String) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let end = run_limited(Command::new("sh").args(["-c", script]), limit, &output, &output).unwrap();
        (end, fs::read_to_string(output).unwrap())
    }

    #[test]
    fn tells_how_a_program_ended_and_what_it_said() {
        let minute = Duration::from_secs(60);

        assert_eq!(limited("echo out; echo err >&2", minute), (End::Passed, "out\nerr\n".to_owned()));
        assert_eq!(limited("exit 3", minute).0, End::Failed);
        // The shell waits for a child that would never end: both have to go.
        assert_eq!(limited("cat /dev/zero >/dev/null; true", Duration::from_millis(1)).0, End::TimedOut);
    }

    #[test]
    fn shows_a_command_as_it_is_typed() {
        assert_eq!(line(Command::new("/a/b/cargo").args(["test", "-p", "x"])), "cargo test -p x");
    }
}
