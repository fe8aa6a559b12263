//! The copy of the workspace in which faults are made, so that nobody's own files are ever touched.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::Fault;

/// Makes `copy` the same as the workspace: its tracked files, and the new ones that are not ignored.
///
/// A file that is already the same is left alone: cargo goes by the time of its last change.
pub(crate) fn mirror(root: &Path, copy: &Path) -> Result<()> {
    let files = list_files(root)?;
    for file in &files {
        let mut text =
            fs::read(root.join(file)).with_context(|| format!("cannot read {}", file.display()))?;
        if file == Path::new("Cargo.toml") {
            text = marked(&String::from_utf8_lossy(&text)).into_bytes();
        }
        write_if_changed(&copy.join(file), &text)?;
    }
    let keep: HashSet<PathBuf> = files.into_iter().map(|file| copy.join(file)).collect();
    remove_others(copy, &keep)
}

/// The manifest with another version. Copy and original are built in one folder, for the sake of what others have written; but
/// cargo tells packages of one workspace apart by name and version only, and would take one with a fault for the sound one.
fn marked(manifest: &str) -> String {
    let mark = |line: &str| match line.strip_prefix("version = \"").and_then(|rest| rest.strip_suffix('"')) {
        Some(version) => format!("version = \"{version}+faults\"\n"),
        None => format!("{line}\n"),
    };
    manifest.lines().map(mark).collect()
}

/// The text with the fault in it.
pub(crate) fn change(text: &str, fault: &Fault) -> Result<String> {
    match text.matches(fault.find).count() {
        1 if fault.find != fault.replace => Ok(text.replacen(fault.find, fault.replace, 1)),
        1 => bail!("fault {} changes nothing", fault.name),
        count => bail!(
            "fault {} does not fit {} any more: the text to replace is there {count} times, not once",
            fault.name,
            fault.file
        ),
    }
}

/// Writes the file unless it has that text already.
pub(crate) fn write_if_changed(path: &Path, text: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn list_files(root: &Path) -> Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .output()
        .context("cannot start git")?;
    if !output.status.success() {
        bail!("git cannot list the files: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let names = String::from_utf8(output.stdout).context("a file has a name that is not text")?;
    // A file that was deleted but not yet committed is still listed.
    Ok(names.split_terminator('\0').map(PathBuf::from).filter(|file| root.join(file).is_file()).collect())
}

fn remove_others(folder: &Path, keep: &HashSet<PathBuf>) -> Result<()> {
    for item in fs::read_dir(folder)? {
        let path = item?.path();
        if path.is_dir() {
            remove_others(&path, keep)?;
        } else if !keep.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(find: &'static str, replace: &'static str) -> Fault {
        Fault { name: "a-fault", breaks: "", file: "a.rs", find, replace, caught_by: &[] }
    }

    #[test]
    fn a_fault_changes_one_place_or_is_stale() {
        assert_eq!(change("a b c", &fault("b", "x")).unwrap(), "a x c");
        for (find, replace) in [("d", "x"), ("b", "b")] {
            assert!(change("a b c", &fault(find, replace)).unwrap_err().to_string().contains("a-fault"));
        }
        assert!(change("b b", &fault("b", "x")).unwrap_err().to_string().contains("2 times"));
    }

    #[test]
    fn the_copy_has_a_version_of_its_own() {
        let manifest =
            "[workspace.package]\nversion = \"1.2.3\"\n[workspace.dependencies]\na = { version = \"1\" }\n";

        let expected = manifest.replace("1.2.3", "1.2.3+faults");
        assert_eq!(marked(manifest), expected);
    }

    #[test]
    fn a_mirror_follows_changes_and_leaves_the_rest_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let (root, copy) = (folder.path().join("root"), folder.path().join("copy"));
        fs::create_dir_all(root.join("src")).unwrap();
        assert!(Command::new("git").args(["init", "--quiet"]).arg(&root).status().unwrap().success());
        for (file, text) in
            [(".gitignore", "ignored"), ("ignored", "x"), ("src/same", "1"), ("changed", "1"), ("gone", "1")]
        {
            fs::write(root.join(file), text).unwrap();
        }
        mirror(&root, &copy).unwrap();
        let written = fs::metadata(copy.join("src/same")).unwrap().modified().unwrap();

        fs::write(root.join("changed"), "2").unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        mirror(&root, &copy).unwrap();

        assert_eq!(fs::read_to_string(copy.join("changed")).unwrap(), "2");
        assert_eq!(fs::metadata(copy.join("src/same")).unwrap().modified().unwrap(), written);
        assert!(!copy.join("gone").exists() && !copy.join("ignored").exists());
    }
}
