//! Runs the catchers: on the sound copy, where they must pass, and on each fault, where one must fail.

use std::{
    collections::HashSet,
    fmt, fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use super::{Catcher, Fault, catcher::Hang, tree};
use crate::{
    process::{self, End},
    workspace::Workspace,
};

/// A build of the whole tree from nothing, on a slow machine.
const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);
/// A catcher that takes longer is too slow to be run for every fault.
const RUN_LIMIT: Duration = Duration::from_secs(120);

/// The place where faults are tried.
pub(crate) struct Bench {
    root: PathBuf,
    tree: PathBuf,
    build: PathBuf,
    output: PathBuf,
}

/// What became of a fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Somebody noticed: who, and how.
    Caught(String),
    /// Nobody noticed.
    Survived,
    /// The fault does not fit the code any more, or does not build.
    Stale(String),
}

impl Bench {
    /// Brings the copy up to date.
    pub(crate) fn set_up(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target.join("faults");
        let bench = Self {
            root: workspace.root.clone(),
            tree: folder.join("tree"),
            // Shared with everything else, so that what others have written is built once.
            build: workspace.target.clone(),
            output: folder.join("output.txt"),
        };
        fs::create_dir_all(&bench.tree)?;
        tree::mirror(&bench.root, &bench.tree)?;
        Ok(bench)
    }

    /// What fails without a fault would catch everything.
    pub(crate) fn pass_without_fault(&self, faults: &[&Fault]) -> Result<()> {
        let mut passed = HashSet::new();
        for catcher in faults.iter().flat_map(|fault| fault.caught_by).copied() {
            if !passed.insert(catcher.to_string()) {
                continue;
            }
            println!("without a fault: {catcher}");
            let builds = catcher.build(&self.tree).into_iter().map(|build| (build, BUILD_LIMIT));
            for (command, limit) in builds.chain([(catcher.run(&self.tree), RUN_LIMIT)]) {
                let line = process::line(&command);
                let end = self.run(command, limit)?;
                if end != End::Passed {
                    bail!("{line} does not pass without a fault ({end:?}); it said:\n{}", self.said());
                }
            }
        }
        Ok(())
    }

    /// Puts the fault in, asks its catchers, and takes it out again.
    pub(crate) fn try_fault(&self, fault: &Fault) -> Result<(Verdict, Duration)> {
        let started = Instant::now();
        let (sound, place) = (fs::read(self.root.join(fault.file))?, self.tree.join(fault.file));
        let verdict = match tree::change(&String::from_utf8_lossy(&sound), fault) {
            Ok(broken) => {
                tree::write_if_changed(&place, broken.as_bytes())?;
                let asked = self.ask(fault.caught_by);
                tree::write_if_changed(&place, &sound)?;
                asked?
            }
            Err(stale) => Verdict::Stale(stale.to_string()),
        };
        Ok((verdict, started.elapsed()))
    }

    fn ask(&self, catchers: &[Catcher]) -> Result<Verdict> {
        for catcher in catchers {
            for build in catcher.build(&self.tree) {
                if self.run(build, BUILD_LIMIT)? != End::Passed {
                    return Ok(Verdict::Stale(format!("it does not build:\n{}", self.said())));
                }
            }
            match self.run(catcher.run(&self.tree), RUN_LIMIT)? {
                End::Failed => return Ok(Verdict::Caught(format!("{catcher}: {}", evidence(&self.said())))),
                End::TimedOut if catcher.hang == Hang::Catches => {
                    return Ok(Verdict::Caught(format!("{catcher}: did not end")));
                }
                End::TimedOut => println!("{catcher} did not end in {} s", RUN_LIMIT.as_secs()),
                End::Passed => {}
            }
        }
        Ok(Verdict::Survived)
    }

    fn run(&self, mut command: Command, limit: Duration) -> Result<End> {
        // A fault may leave something unused, which is no reason not to build it. And what is built for one run only
        // need not be built as well as a release.
        command
            .env_remove("RUSTFLAGS")
            .env("CARGO_TARGET_DIR", &self.build)
            .env("CARGO_INCREMENTAL", "1")
            .env("CARGO_PROFILE_RELEASE_LTO", "off")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "none")
            .env("RUST_BACKTRACE", "0")
            // What is broken on purpose is not waited for as long as what is only slow.
            .env("POSTHASTE_TEST_PATIENCE", "20");
        process::run_limited(&mut command, limit, &self.output, &self.output)
    }

    fn said(&self) -> String {
        read_lossy(&self.output)
    }
}

fn read_lossy(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// What says most about a failure: the first test that failed, the first seed and what it broke, a panic, or else the
/// last line.
fn evidence(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let failed_test = |line: &&str| Some(line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?.to_owned());
    let with_next = |pair: &[&str]| {
        let tells =
            (pair[0].starts_with("seed ") && pair[0].ends_with(':')) || pair[0].contains("panicked at");
        tells.then(|| format!("{} {}", pair[0], pair[1]))
    };
    let found = lines.iter().find_map(failed_test).or_else(|| lines.windows(2).find_map(with_next));
    found.unwrap_or_else(|| lines.last().copied().unwrap_or("no output").to_owned())
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Caught(by) => write!(f, "caught by {by}"),
            Verdict::Survived => f.write_str("SURVIVED"),
            Verdict::Stale(why) => write!(f, "STALE: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_what_says_most() {
        let cases = [
            ("test a ... ok\ntest b::c ... FAILED\ntest d ... FAILED\nerror: test failed\n", "b::c"),
            (
                "seed 9 broke:\n  rule 5\nseed 10 broke:\n  rule 6\n1 passed, 2 failed\n",
                "seed 9 broke: rule 5",
            ),
            (
                "thread 'main' panicked at a.rs:1:2:\noverflow\nnote: run with\n",
                "thread 'main' panicked at a.rs:1:2: overflow",
            ),
            ("something\nat last\n\n", "at last"),
            ("", "no output"),
        ];
        for (said, expected) in cases {
            assert_eq!(evidence(said), expected);
        }
    }
}
