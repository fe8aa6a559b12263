//! What the examples share: a database file that is gone when they end.

use anyhow::Result;
use tempfile::TempDir;

/// A fresh SQLite file in a folder of its own.
pub struct Database {
    /// Its URL.
    pub url: String,
    _folder: TempDir,
}

/// Makes a database for one example.
pub fn database() -> Result<Database> {
    let folder = tempfile::tempdir()?;
    let url = format!("sqlite://{}", folder.path().join("example.db").display());
    Ok(Database { url, _folder: folder })
}
