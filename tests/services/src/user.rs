//! The user a server runs as. PostgreSQL and PgBouncer refuse to run as root, so root lends them to somebody else.

use std::{
    env, fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::variables::{POSTGRES_USER, given};

/// Another user of this system.
#[derive(Clone, Debug)]
pub(crate) struct User {
    pub(crate) name: String,
    uid: u32,
    gid: u32,
}

impl User {
    /// Who the servers run as: nobody else, unless this is root.
    pub(crate) fn for_servers() -> Result<Option<Self>> {
        if !is_root() {
            return Ok(None);
        }
        let wanted = given(POSTGRES_USER);
        let names = wanted.as_deref().into_iter().chain(["postgres", "nobody"]);
        match names.filter_map(Self::find).find(|user| user.uid != 0) {
            Some(user) => Ok(Some(user)),
            None => {
                bail!("this is root, as whom PostgreSQL refuses to run: set {POSTGRES_USER} to another user")
            }
        }
    }

    fn find(name: &str) -> Option<Self> {
        let ask = |what| -> Option<u32> {
            let output = Command::new("id").args([what, name]).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse().ok()
        };
        Some(Self { name: name.to_owned(), uid: ask("-u")?, gid: ask("-g")? })
    }
}

/// Whether this program runs as root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A command that runs as this user, in a folder that it may enter: where this program stands may be closed to it.
pub(crate) fn command_as(user: Option<&User>, program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if let Some(user) = user {
        // The standard library also drops root's other groups.
        command.uid(user.uid).gid(user.gid);
    }
    command
}

/// Creates the folder and gives it to the user.
pub(crate) fn create_folder_for(user: Option<&User>, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let Some(user) = user else { return Ok(()) };
    chown(folder, Some(user.uid), Some(user.gid))?;
    // Temporary folders are closed to others by default, and then the user cannot reach its own inside.
    let temporary = env::temp_dir();
    for above in
        folder.ancestors().skip(1).take_while(|above| above.starts_with(&temporary) && **above != *temporary)
    {
        let mut permissions = fs::metadata(above)?.permissions();
        permissions.set_mode(permissions.mode() | 0o011);
        fs::set_permissions(above, permissions)?;
    }
    Ok(())
}

/// Writes a file that the user may read, and nobody else.
pub(crate) fn write_for(user: Option<&User>, path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    if let Some(user) = user {
        chown(path, Some(user.uid), Some(user.gid))?;
    }
    Ok(())
}
