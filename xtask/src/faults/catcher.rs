//! Who catches a fault: a test program, or the simulation.

use std::{fmt, path::Path, process::Command};

use crate::workspace::{AS_TESTED, cargo_in};

/// A command that passes on sound code and should fail on a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Catcher {
    program: Program,
    /// Whether hanging counts as noticing.
    pub(crate) hang: Hang,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Tests {
        package: &'static str,
        which: &'static str,
    },
    /// Tests of the dashboard, which build and run the program itself.
    Browser {
        which: &'static str,
    },
    Simulation {
        schedules: u32,
    },
}

/// The dashboard's tests.
const BROWSER: &str = "dashboard";

/// What it means that a catcher does not end in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hang {
    /// Nothing was noticed.
    Misses,
    /// The fault makes something wait for ever, and that is how it is noticed.
    Catches,
}

/// All tests of the package, unit tests and others.
pub(crate) const fn tests(package: &'static str) -> Catcher {
    some_tests(package, "--tests")
}

/// Some tests of the package, as cargo is told: `--test conformance`, `--lib -- retry`.
pub(crate) const fn some_tests(package: &'static str, which: &'static str) -> Catcher {
    Catcher { program: Program::Tests { package, which }, hang: Hang::Misses }
}

/// Some tests of the dashboard, by the beginning of their names.
pub(crate) const fn browser(which: &'static str) -> Catcher {
    Catcher { program: Program::Browser { which }, hang: Hang::Misses }
}

/// The simulation, with this many schedules.
pub(crate) const fn simulation(schedules: u32) -> Catcher {
    Catcher { program: Program::Simulation { schedules }, hang: Hang::Misses }
}

impl Catcher {
    /// The same, if hanging counts as noticing.
    #[allow(dead_code, reason = "for faults of the engine")]
    pub(crate) const fn or_hang(self) -> Self {
        Self { hang: Hang::Catches, ..self }
    }

    /// Builds it. A fault that does not build is none.
    pub(crate) fn build(self, tree: &Path) -> Vec<Command> {
        let cargo = |words: &str| cargo_in(tree, words);
        match self.program {
            Program::Tests { package, which } => {
                let targets = which.split("-- ").next().unwrap_or_default();
                vec![cargo(&format!("test --quiet --no-run {} {targets}", scope(package, which)))]
            }
            Program::Browser { .. } => {
                vec![cargo(&format!("build --quiet {AS_TESTED} --bin posthaste --test {BROWSER}"))]
            }
            Program::Simulation { .. } => {
                vec![cargo("build --quiet --release --package posthaste-testkit --bin simulate")]
            }
        }
    }

    /// Runs it.
    pub(crate) fn run(self, tree: &Path) -> Command {
        match self.program {
            Program::Tests { package, which } => {
                cargo_in(tree, &format!("test {} {which}", scope(package, which)))
            }
            Program::Browser { which } => {
                cargo_in(tree, &format!("test --workspace --test {BROWSER} -- {which}"))
            }
            Program::Simulation { schedules } => cargo_in(
                tree,
                &format!(
                    "run --quiet --release --package posthaste-testkit --bin simulate -- --schedules {schedules}"
                ),
            ),
        }
    }
}

/// What cargo chooses from. A test that has a name is chosen from the whole workspace, whose dependencies are built already; with one package
/// chosen they would be built again with fewer features.
fn scope(package: &str, which: &str) -> String {
    match which.starts_with("--test ") {
        true => "--workspace".to_owned(),
        false => format!("--package {package}"),
    }
}

impl fmt::Display for Catcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.program {
            Program::Tests { package, which: "--tests" } => write!(f, "{package}"),
            Program::Tests { package, which } => write!(f, "{package} {which}"),
            Program::Browser { which } => write!(f, "{BROWSER} {which}"),
            Program::Simulation { schedules } => write!(f, "simulation of {schedules} schedules"),
        }
    }
}
