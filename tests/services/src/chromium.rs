//! The browser for the tests of the dashboard: found or installed. It is no server that runs, only two programs that must be there.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{
    lookup::{self, dotted, is_program},
    packages::Missing,
    variables::{CHROMEDRIVER, CHROMIUM, given},
};

/// The driver's package brings the browser of the same version.
const MISSING: Missing = Missing {
    name: "Chromium",
    packages: &["chromium-driver", "chromium-chromedriver"],
    variable: CHROMIUM,
    instead: "the program of a Chromium or Chrome, with a chromedriver of the same version in PATH",
};

/// A browser, and what drives it.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The browser's program.
    pub browser: PathBuf,
    /// The program that speaks WebDriver.
    pub driver: PathBuf,
    /// The browser's version, such as `140.0.1`.
    pub version: String,
}

impl Installation {
    /// What is installed; if nothing is, installs it.
    pub fn find_or_install() -> Result<Self> {
        if let Some(found) = Self::find()? {
            return Ok(found);
        }
        MISSING.install()?;
        Self::find()?.context("Chromium was installed, but its programs were not found")
    }

    /// What the variables name or `PATH` has, if it has both programs.
    pub fn find() -> Result<Option<Self>> {
        let browser = named(CHROMIUM, &["chromium", "chromium-browser", "google-chrome"])?;
        let driver = named(CHROMEDRIVER, &["chromedriver"])?;
        let (Some(browser), Some(driver)) = (browser, driver) else { return Ok(None) };
        let version = lookup::version_of(&browser, "--version");
        let version = dotted(&version.with_context(|| format!("{} does not run", browser.display()))?);
        Ok(Some(Self { browser, driver, version }))
    }

    /// The same for a test.
    ///
    /// # Panics
    ///
    /// If there is none: a test must not pass in silence.
    pub fn given() -> Self {
        Self::find().and_then(|found| found.context(HOW)).unwrap_or_else(|error| panic!("{error:#}"))
    }
}

const HOW: &str = "there is no Chromium with its chromedriver, so this test has no browser: run `eval \"$(cargo xtask services up)\"` \
                   in this shell first, or install Debian's package chromium-driver, or set POSTHASTE_TEST_CHROMIUM to the program \
                   of a browser of yours (CONTRIBUTING.md)";

/// The program that the variable names, or else the first of these that `PATH` has.
fn named(variable: &str, programs: &[&str]) -> Result<Option<PathBuf>> {
    match given(variable) {
        Some(path) if is_program(Path::new(&path)) => Ok(Some(path.into())),
        Some(path) => bail!("{variable} is {path}, and that is no program"),
        None => Ok(programs.iter().find_map(|name| lookup::program(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_in_the_path_is_taken() {
        let found = named("POSTHASTE_TEST_NOBODY_SETS_THIS", &["no-such-program", "sh"]).unwrap();
        assert!(found.unwrap().ends_with("sh"));
        assert_eq!(named("POSTHASTE_TEST_NOBODY_SETS_THIS", &["no-such-program"]).unwrap(), None);
    }

    #[test]
    fn says_what_to_do_where_it_cannot_be_installed() {
        let text = MISSING.otherwise();
        assert!(
            text.contains(CHROMIUM) && text.contains("chromedriver") && !text.contains("compose"),
            "{text}"
        );
        assert!(HOW.contains(CHROMIUM) && HOW.contains("services up"));
    }
}
