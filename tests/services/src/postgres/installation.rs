//! Where PostgreSQL's programs are, installed first if there are none.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    lookup::{self, dotted, is_program},
    packages::{Missing, SERVER_ELSEWHERE},
    user::User,
    variables::{POSTGRES, POSTGRES_BIN, given, postgres_bin},
};

const MISSING: Missing =
    Missing { name: "PostgreSQL", packages: &["postgresql"], variable: POSTGRES, instead: SERVER_ELSEWHERE };

/// PostgreSQL's programs, and who they run as.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The folder of `initdb`, `postgres` and `psql`.
    pub bin: PathBuf,
    /// Its version, such as `15.18`.
    pub version: String,
    pub(crate) user: Option<User>,
}

impl Installation {
    /// What is installed; if nothing is, installs it.
    pub fn find_or_install() -> Result<Self> {
        if let Some(found) = Self::find()? {
            return Ok(found);
        }
        MISSING.install()?;
        Self::find()?.context("PostgreSQL was installed, but its programs were not found")
    }

    /// What is installed, if anything is.
    pub fn find() -> Result<Option<Self>> {
        if let Some(bin) = given(POSTGRES_BIN)
            && !is_complete(Path::new(&bin))
        {
            bail!("{POSTGRES_BIN} is {bin}, and that folder has no initdb, postgres, pg_ctl and psql");
        }
        let Some(bin) = candidates().into_iter().find(|folder| is_complete(folder)) else {
            return Ok(None);
        };
        let version = lookup::version_of(&bin.join("postgres"), "--version");
        let version = dotted(&version.with_context(|| format!("{} does not run", bin.display()))?);
        // Who installed it decides who exists: the package brings the user.
        Ok(Some(Self { bin, version, user: User::for_servers()? }))
    }

    /// What [`POSTGRES_BIN`] names, for tests that make a cluster of their own.
    ///
    /// # Panics
    ///
    /// If the variable is not set: a test must not pass in silence.
    pub fn given() -> Result<Self> {
        let bin = postgres_bin();
        Self::find()?.with_context(|| format!("{} does not run", bin.display()))
    }

    /// The system user that the server runs as, if not this one.
    pub fn user(&self) -> Option<&str> {
        self.user.as_ref().map(|user| user.name.as_str())
    }

    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

/// Where it may be, the best first.
fn candidates() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = given(POSTGRES_BIN).map(PathBuf::from).into_iter().collect();
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output() {
        folders.push(String::from_utf8_lossy(&output.stdout).trim().into());
    }
    let debian = lookup::folders_newest_first(Path::new("/usr/lib/postgresql"));
    folders.extend(debian.into_iter().map(|version| version.join("bin")));
    folders.extend(lookup::program("initdb").and_then(|found| Some(found.parent()?.to_owned())));
    folders
}

fn is_complete(folder: &Path) -> bool {
    ["initdb", "postgres", "pg_ctl", "psql"].iter().all(|name| is_program(&folder.join(name)))
}
