//! `cargo xtask test`: every check, one after the other, up to the first that fails.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};

#[cfg(unix)]
use crate::prove;
use crate::{examples, faults, process, workspace::Workspace};

#[derive(Args)]
pub(crate) struct Options {
    /// Leave a step out, to be quick while working; may be repeated
    #[arg(long, value_name = "STEP")]
    skip: Vec<Step>,
}

impl Options {
    /// The steps that are not left out.
    fn steps(&self) -> impl Iterator<Item = Step> {
        Step::value_variants().iter().copied().filter(|step| !self.skip.contains(step))
    }
}

/// The steps, in the order they run: what fails fastest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    Fmt,
    Clippy,
    Tests,
    Docs,
    Examples,
    Simulate,
    Prove,
    Faults,
}

impl Step {
    fn what(self) -> &'static str {
        match self {
            Step::Fmt => "format",
            Step::Clippy => "lints",
            Step::Tests => "tests and doctests",
            Step::Docs => "documentation",
            Step::Examples => "examples and their output",
            Step::Simulate => "simulation",
            Step::Prove => "proof on real servers",
            Step::Faults => "deliberate faults",
        }
    }

    /// Whether it runs tests that talk to real servers.
    fn needs_servers(self) -> bool {
        matches!(self, Step::Tests | Step::Examples | Step::Faults)
    }

    /// Does the step, and says in a few words what came out.
    fn run(self, workspace: &Workspace) -> Result<String> {
        let cargo = |words| process::run(&mut workspace.cargo(words)).map(|()| String::new());
        match self {
            Step::Fmt => cargo("fmt --all --check"),
            // With the feature, too: of the whole workspace, so that only what it changes is built again.
            Step::Clippy => cargo("clippy --workspace --all-targets -- -D warnings").and_then(|_| {
                cargo("clippy --workspace --all-targets --features posthaste-cli/otlp -- -D warnings")
            }),
            Step::Tests => run_tests(&mut workspace.cargo("test --workspace")).and_then(|said| {
                let traces = "test --workspace --features posthaste-cli/otlp --test program traces";
                run_tests(&mut workspace.cargo(traces)).map(|traced| format!("{said}; with traces {traced}"))
            }),
            Step::Docs => {
                let mut doc = workspace.cargo("doc --workspace --no-deps");
                process::run(doc.env("RUSTDOCFLAGS", "-D warnings")).map(|()| String::new())
            }
            Step::Examples => examples::run(workspace, &examples::Options::default()).map(|()| String::new()),
            Step::Simulate => simulate(workspace, &[]).map(|()| String::new()),
            #[cfg(unix)]
            Step::Prove => prove::run(workspace, &prove::Options::SHORT).map(|()| String::new()),
            #[cfg(not(unix))]
            Step::Prove => Ok("not on this system".to_owned()),
            Step::Faults => {
                faults::run(workspace, &faults::Options::share_for(workspace)).map(|()| String::new())
            }
        }
    }
}

/// Runs every step that is not skipped, with the servers that they need, and ends with a summary.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    #[cfg(unix)]
    if options.steps().any(Step::needs_servers) && crate::services::run_with_servers(workspace)?.is_break() {
        return Ok(());
    }
    run_steps(workspace, options)
}

fn run_steps(workspace: &Workspace, options: &Options) -> Result<()> {
    let mut summary = Vec::new();
    let started = Instant::now();
    for step in options.steps() {
        println!("\n=== {}", step.what());
        let begun = Instant::now();
        let result = step.run(workspace);
        let took = seconds(begun.elapsed());
        let said = result.with_context(|| format!("FAILED: {} ({took})", step.what()))?;
        println!("=== {}: passed ({took})", step.what());
        summary.push(format!("{:<28}passed {took:>9}  {said}", step.what()));
    }
    println!("\n{}", summary.join("\n"));
    for step in &options.skip {
        println!("{:<28}SKIPPED", step.what());
    }
    println!("\nall passed in {}", seconds(started.elapsed()));
    Ok(())
}

/// Runs the simulation of the test kit.
pub(crate) fn simulate(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let mut command = workspace.cargo("run --quiet --release --package posthaste-testkit --bin simulate --");
    process::run(command.args(arguments))
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Shows the tests' output and adds up what each program says at its end.
fn run_tests(command: &mut Command) -> Result<String> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let mut total = Total::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        total.add(&line);
    }
    process::check(command, child.wait()?)?;
    if total.passed == 0 {
        bail!("no test ran");
    }
    let said = format!("{} passed, {} ignored", total.passed, total.ignored);
    println!("tests in all: {said}");
    Ok(said)
}

/// What all test programs said together.
#[derive(Debug, Default, PartialEq, Eq)]
struct Total {
    passed: u64,
    ignored: u64,
}

impl Total {
    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn add(&mut self, line: &str) {
        let Some(result) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for part in result.1.split("; ") {
            match part.split_once(' ') {
                Some((count, "passed")) => self.passed += count.parse().unwrap_or(0),
                Some((count, "ignored")) => self.ignored += count.parse().unwrap_or(0),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_results_of_all_test_programs() {
        let mut total = Total::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: ok. 40 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
        ] {
            total.add(line);
        }

        assert_eq!(total, Total { passed: 43, ignored: 1 });
    }
}
