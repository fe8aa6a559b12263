//! Where the workspace is, and how its cargo is called.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;

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

    /// A cargo command in the workspace's folder. The words are separated by blanks.
    pub(crate) fn cargo(&self, words: &str) -> Command {
        cargo_in(&self.root, words)
    }
}

/// A cargo command in this folder. The words are separated by blanks.
pub(crate) fn cargo_in(folder: &Path, words: &str) -> Command {
    // The same cargo that runs this program, also where another toolchain is the default.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).args(words.split_whitespace());
    command
}
