//! A person's own editor, opened on a payload.

use std::{fs, io::Write, process::Command};

use anyhow::{Context, bail};

use crate::screen::{confirm, pretty};

/// Opens the editor on a text until what it leaves passes the check. None if the text stays as it was.
pub(super) fn edit(
    text: &str,
    is_json: bool,
    check: impl Fn(&str) -> anyhow::Result<()>,
) -> anyhow::Result<Option<String>> {
    let ending = if is_json { ".json" } else { ".txt" };
    let mut file = tempfile::Builder::new().prefix("posthaste-").suffix(ending).tempfile()?;
    let before = pretty(text).filter(|_| is_json).unwrap_or_else(|| text.to_owned());
    writeln!(file, "{before}").context("cannot write the payload for the editor")?;
    file.flush()?;
    loop {
        open(file.path())?;
        let after = fs::read_to_string(file.path()).context("cannot read what the editor left")?;
        let after = after.strip_suffix('\n').unwrap_or(&after);
        if after == before {
            return Ok(None);
        }
        match check(after) {
            Ok(()) => return Ok(Some(after.to_owned())),
            Err(error) if confirm(&format!("{error}. Edit it again?"))? => {}
            Err(error) => return Err(error),
        }
    }
}

/// As the user has set it; by a shell, because it may have options.
fn open(file: &std::path::Path) -> anyhow::Result<()> {
    let set = |name: &&str| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    let editor = ["VISUAL", "EDITOR"].iter().find_map(set).unwrap_or_else(|| "vi".to_owned());
    let mut command = Command::new("sh");
    let ended = command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status();
    let ended = ended.with_context(|| format!("cannot start the editor {editor:?}; set EDITOR"))?;
    if !ended.success() {
        bail!("the editor {editor:?} failed; nothing was sent");
    }
    Ok(())
}
