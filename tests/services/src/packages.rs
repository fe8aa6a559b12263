//! Installing what is missing, with Debian's packages; or saying what to do, where that is not possible.

use std::{env, fs, process::Command, sync::Once};

use anyhow::{Context, Result, bail};

use crate::{
    lookup,
    progress::{run_logged, say, step},
    user::is_root,
};

/// Something that can be installed.
pub(crate) struct Missing {
    /// What people call it.
    pub(crate) name: &'static str,
    /// Debian's names for it; the first that the system offers is taken.
    pub(crate) packages: &'static [&'static str],
    /// The variable that makes it unnecessary.
    pub(crate) variable: &'static str,
    /// What to set it to.
    pub(crate) instead: &'static str,
}

/// What to set the variable of a server to.
pub(crate) const SERVER_ELSEWHERE: &str = "a server that runs elsewhere (compose.yaml has one for Docker)";

impl Missing {
    /// Installs it, as root or with a `sudo` that asks nothing.
    pub(crate) fn install(&self) -> Result<()> {
        let name = self.name;
        if lookup::program("apt-get").is_none() {
            bail!(
                "{name} is not installed, and there is no apt-get to install it with: install it, or {}",
                self.otherwise()
            );
        }
        if !may_install() {
            bail!(
                "{name} is not installed, and that takes root's rights: run `sudo apt-get install {}`, or {}",
                self.packages[0],
                self.otherwise()
            );
        }
        let advice = || {
            format!(
                "{name} could not be installed (is there a network?): install it yourself, or {}",
                self.otherwise()
            )
        };
        update_once();
        let package = self.packages.iter().copied().find(|package| is_offered(package));
        let Some(package) = package else {
            bail!("{name} is not among the packages that apt-get knows: install it, or {}", self.otherwise());
        };
        step(&format!("installing {name} (package {package})"), || {
            apt_get(&["install", "--no-install-recommends", package])
        })
        .with_context(advice)
    }

    /// What to do where it cannot be installed for people.
    pub(crate) fn otherwise(&self) -> String {
        format!("set {} to {}", self.variable, self.instead)
    }
}

fn may_install() -> bool {
    let sudo_asks_nothing = || {
        let ask = Command::new("sudo").args(["-n", "true"]).output();
        ask.is_ok_and(|answer| answer.status.success())
    };
    is_root() || sudo_asks_nothing()
}

/// The lists of packages go out of date, and new machines have none. A source that does not answer may be one that is
/// not needed here, so that is no reason to stop: without a list, the package will not be found.
fn update_once() {
    static UPDATED: Once = Once::new();
    UPDATED.call_once(|| {
        if let Err(error) = step("reading the lists of packages", || apt_get(&["update"])) {
            say(&format!("  going on with the lists that are there: {error:#}"));
        }
    });
}

fn is_offered(package: &str) -> bool {
    let answer = Command::new("apt-cache").args(["show", "--no-all-versions", package]).output();
    answer.is_ok_and(|answer| answer.status.success())
}

fn apt_get(words: &[&str]) -> Result<()> {
    let mut command = Command::new(if is_root() { "env" } else { "sudo" });
    if !is_root() {
        command.args(["-n", "env"]);
    }
    // Another apt-get may be at work, for instance the system's daily update.
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-y", "-q", "-o", "DPkg::Lock::Timeout=300"]);
    command.args(words);
    let log = env::temp_dir().join(format!("posthaste-apt-{}.log", std::process::id()));
    let result = run_logged(&mut command, &log);
    let _ = fs::remove_file(&log);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_to_do_where_nothing_can_be_installed() {
        let missing = Missing {
            name: "Kafka",
            packages: &["kafka"],
            variable: "POSTHASTE_TEST_KAFKA",
            instead: SERVER_ELSEWHERE,
        };

        let text = missing.otherwise();

        assert!(text.contains("POSTHASTE_TEST_KAFKA") && text.contains("compose.yaml"), "{text}");
    }
}
