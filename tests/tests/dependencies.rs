//! Dependencies point one way: cli → {server, bench, config} → posthaste → {relay, logs, sinks} → envelope → core. No log knows a
//! sink or another log, and the relay knows no driver. `ARCHITECTURE.md` says why.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package};

/// Where a package stands. One may use only what stands lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Core,
    /// How an entry becomes a message: what sinks have in common.
    Envelope,
    /// The relay, a log or a sink: none of them knows another.
    Part,
    /// The test kit drives the relay, and nothing that ships may use it.
    TestKit,
    Facade,
    Service,
    Program,
    /// Examples, tests and development commands: they may use everything, and nobody else uses them.
    Outside,
}

fn rank(folder: &str) -> Rank {
    match folder {
        "crates/core" => Rank::Core,
        "crates/envelope" => Rank::Envelope,
        "crates/relay" => Rank::Part,
        "crates/testkit" => Rank::TestKit,
        "crates/posthaste" => Rank::Facade,
        "crates/server" | "crates/bench" | "crates/config" => Rank::Service,
        "crates/cli" => Rank::Program,
        "examples" | "tests" | "tests/dashboard" | "tests/drivers" | "tests/prove" | "tests/services"
        | "xtask" => Rank::Outside,
        driver if driver.starts_with("logs/") || driver.starts_with("sinks/") => Rank::Part,
        other => panic!("{other} has no rank; give it one here and a place in ARCHITECTURE.md"),
    }
}

fn may_use(user: &str, used: &str, kind: DependencyKind) -> bool {
    let (from, to) = (rank(user), rank(used));
    let lower = to < from;
    match (from, to) {
        // Its own tests may want more of its features than its users.
        _ if user == used => kind == DependencyKind::Development,
        // What starts servers serves tests and development commands alike; also the tests of a log, a sink, a service or the program.
        (Rank::Part | Rank::Service | Rank::Program, Rank::Outside) => {
            used == "tests/services" && kind == DependencyKind::Development
        }
        (_, Rank::Outside) => from == Rank::Outside,
        // Tests of a part may run it in the test kit, which knows the relay. No test of a driver knows another driver.
        (_, Rank::TestKit) if kind == DependencyKind::Development => true,
        (Rank::Part, _) if kind == DependencyKind::Development => lower || used == "crates/relay",
        // It measures and simulates; a service or a facade with test code in it must not ship.
        (_, Rank::TestKit) => matches!(user, "crates/bench" | "crates/cli") || from == Rank::Outside,
        (Rank::Part, Rank::Envelope) => user.starts_with("sinks/"),
        (Rank::TestKit, _) => matches!(used, "crates/core" | "crates/relay"),
        _ => lower,
    }
}

/// The package's folder, from the root of the workspace.
fn folder<'a>(metadata: &Metadata, package: &'a Package) -> &'a str {
    package.manifest_path.parent().unwrap().strip_prefix(&metadata.workspace_root).unwrap().as_str()
}

#[test]
fn dependencies_point_one_way() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let packages = metadata.workspace_packages();
    let mut wrong = Vec::new();
    for package in &packages {
        let user = folder(&metadata, package);
        for dependency in &package.dependencies {
            let Some(used) = packages.iter().find(|other| other.name.as_str() == dependency.name) else {
                continue;
            };
            let used = folder(&metadata, used);
            if !may_use(user, used, dependency.kind) {
                wrong.push(format!("{user} uses {used} ({})", dependency.kind));
            }
        }
    }

    assert!(packages.len() > 5, "the workspace was not found");
    assert!(wrong.is_empty(), "these dependencies point the wrong way:\n{}", wrong.join("\n"));
}

#[test]
fn the_rule_says_what_the_design_says() {
    use DependencyKind::{Development, Normal};
    let cases = [
        ("crates/cli", "crates/server", Normal, true),
        ("crates/cli", "crates/posthaste", Normal, true),
        ("crates/server", "crates/posthaste", Normal, true),
        ("crates/server", "crates/bench", Normal, false),
        ("crates/server", "crates/config", Normal, false),
        ("crates/config", "crates/server", Normal, false),
        ("crates/server", "tests/services", Development, true),
        ("crates/server", "tests/services", Normal, false),
        ("crates/posthaste", "sinks/file", Normal, true),
        ("crates/posthaste", "crates/testkit", Normal, false),
        ("crates/posthaste", "crates/testkit", Development, true),
        ("crates/posthaste", "crates/posthaste", Development, true),
        ("crates/posthaste", "crates/posthaste", Normal, false),
        ("crates/relay", "logs/sqlite", Normal, false),
        ("crates/relay", "logs/sqlite", Development, false),
        ("crates/relay", "crates/testkit", Development, true),
        ("logs/sqlite", "sinks/file", Normal, false),
        ("logs/sqlite", "logs/postgres", Development, false),
        ("logs/sqlite", "crates/relay", Normal, false),
        ("logs/sqlite", "crates/relay", Development, true),
        ("logs/sqlite", "crates/testkit", Development, true),
        ("crates/testkit", "crates/relay", Normal, true),
        ("crates/testkit", "logs/sqlite", Normal, false),
        ("crates/core", "crates/relay", Normal, false),
        ("crates/core", "crates/relay", Development, false),
        ("crates/bench", "crates/testkit", Normal, true),
        ("crates/cli", "xtask", Normal, false),
        ("crates/cli", "crates/config", Normal, true),
        ("crates/cli", "tests/services", Development, true),
        ("crates/cli", "tests/services", Normal, false),
        ("crates/config", "sinks/kafka", Normal, true),
        ("crates/config", "crates/bench", Normal, false),
        ("crates/testkit", "tests/services", Normal, false),
        ("tests", "tests/services", Development, true),
        ("sinks/kafka", "tests/services", Development, true),
        ("sinks/kafka", "tests/services", Normal, false),
        ("sinks/kafka", "xtask", Development, false),
        ("sinks/kafka", "crates/envelope", Normal, true),
        ("crates/relay", "crates/envelope", Normal, false),
        ("crates/envelope", "crates/core", Normal, true),
        ("crates/envelope", "sinks/kafka", Normal, false),
        ("crates/core", "crates/envelope", Normal, false),
        ("xtask", "tests/services", Normal, true),
        ("xtask", "crates/testkit", Normal, true),
    ];
    for (user, used, kind, allowed) in cases {
        assert_eq!(may_use(user, used, kind), allowed, "{user} → {used} ({kind})");
    }
}
