//! Finding programs that are installed already.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// The program in one of the folders of `PATH`, or where Debian keeps servers.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    // An ordinary user's PATH has no sbin, and that is where PgBouncer is.
    let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join(name)).find(|program| is_program(program))
}

/// Whether this is a file that can be run.
pub(crate) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The folders in a folder, the highest version first: `17` stands before `9.6`.
pub(crate) fn folders_newest_first(folder: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<_> = items.map(|item| item.path()).filter(|path| path.is_dir()).collect();
    let version = |path: &PathBuf| version_in(&path.file_name().unwrap_or_default().to_string_lossy());
    folders.sort_by_key(|path| std::cmp::Reverse(version(path)));
    folders
}

/// The first version in what the program says when it is asked for it, as numbers: `[17, 0, 15]`.
pub(crate) fn version_of(program: &Path, question: &str) -> Option<Vec<u32>> {
    let output = Command::new(program).arg(question).output().ok()?;
    // Java answers on its error output.
    let said = [output.stdout, output.stderr].concat();
    Some(version_in(&String::from_utf8_lossy(&said))).filter(|version| !version.is_empty())
}

/// The first number in a text, with those that follow it after dots.
fn version_in(text: &str) -> Vec<u32> {
    let begin = text.find(|character: char| character.is_ascii_digit()).unwrap_or(text.len());
    let rest = &text[begin..];
    let end =
        rest.find(|character: char| character != '.' && !character.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].split('.').map_while(|number| number.parse().ok()).collect()
}

/// A version as people write it.
pub(crate) fn dotted(version: &[u32]) -> String {
    version.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_out_of_what_programs_say() {
        for (said, version) in [
            ("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", "15.18"),
            ("openjdk version \"17.0.15\" 2025-04-15", "17.0.15"),
            ("PgBouncer 1.18.0\nlibevent 2.1.12-stable", "1.18.0"),
            ("postgres (PostgreSQL) 18beta1", "18"),
            ("nothing", ""),
        ] {
            assert_eq!(dotted(&version_in(said)), version, "{said}");
        }
    }

    #[test]
    fn the_highest_version_comes_first() {
        // Numbers further up do not count.
        let folder = tempfile::Builder::new().prefix("16").tempdir().unwrap();
        for name in ["9.6", "17", "15"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }

        let found = folders_newest_first(folder.path());

        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["17", "15", "9.6"]);
    }

    #[test]
    fn finds_a_program_that_every_system_has() {
        assert!(program("sh").is_some());
        assert_eq!(program("no-such-program"), None);
    }
}
