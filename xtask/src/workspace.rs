//! Where the workspace is, and how its cargo is called.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

use crate::process;

/// The workspace that this program belongs to.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// Where cargo builds.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// The workspace around the current folder.
    pub(crate) fn find() -> Result<Self> {
        let metadata =
            MetadataCommand::new().no_deps().exec().context("cannot ask cargo for the workspace")?;
        Ok(Self { root: metadata.workspace_root.into(), target: metadata.target_directory.into() })
    }

    /// The commit that is checked out; nothing where this is no clone.
    pub(crate) fn commit(&self) -> Option<String> {
        let output = Command::new("git").current_dir(&self.root).args(["rev-parse", "HEAD"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Builds these programs as `cargo test --workspace` does, so that what others have written is not built twice: with other packages chosen,
    /// or without any test, cargo would choose other features of it.
    pub(crate) fn build(&self, programs: &str) -> Result<()> {
        process::run(&mut self.cargo(&format!("build {AS_TESTED} {programs}")))
    }

    /// A cargo command in the workspace's folder. The words are separated by blanks.
    pub(crate) fn cargo(&self, words: &str) -> Command {
        cargo_in(&self.root, words)
    }
}

/// Chooses the whole workspace and a test that is small, for the sake of the features.
pub(crate) const AS_TESTED: &str = "--workspace --test tidy";

/// A cargo command in this folder. The words are separated by blanks.
pub(crate) fn cargo_in(folder: &Path, words: &str) -> Command {
    // The same cargo that runs this program, also where another toolchain is the default.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).args(words.split_whitespace());
    // What cargo told this program about its package would look to build scripts as if something had changed, and half of
    // the dependencies would be built anew each time one calls cargo now by hand and now from here.
    for (name, _) in env::vars_os() {
        if name
            .to_str()
            .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST"))
        {
            command.env_remove(name);
        }
    }
    command
}
