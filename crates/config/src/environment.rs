//! What a file takes from outside: environment variables, and files with secrets.

use std::{ffi::OsString, fmt::Write, io, path::Path};

/// Where variables and files come from.
pub trait Environment {
    /// The value of an environment variable, if it is set.
    fn variable(&self, name: &str) -> Option<String>;

    /// What is in a file.
    fn file(&self, path: &Path) -> io::Result<String>;

    /// All variables that are set.
    fn variables(&self) -> Vec<(String, OsString)> {
        Vec::new()
    }
}

/// The environment of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Environment for System {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        std::fs::read_to_string(path)
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect()
    }
}

/// A value that begins with this is in that file.
const FILE: &str = "file:";

/// What a written value stands for, or everything that is missing for it, each in words that follow a key.
///
/// `${NAME}` is an environment variable, `${NAME:-text}` one that may be missing, `$${` a plain `${`. A value that begins with
/// `file:` is what that file has, without line breaks at its end.
pub(crate) fn expand(written: &str, environment: &dyn Environment) -> Result<String, Vec<String>> {
    let expanded = variables(written, environment)?;
    // What came out of a variable names no file.
    if written.starts_with(FILE) { from_file(&expanded, environment) } else { Ok(expanded) }
}

/// What a value stands for in which nothing but `file:` has a meaning.
pub(crate) fn from_file(written: &str, environment: &dyn Environment) -> Result<String, Vec<String>> {
    let Some(path) = written.strip_prefix(FILE) else { return Ok(written.to_owned()) };
    match environment.file(Path::new(path)) {
        Ok(text) => Ok(text.trim_end_matches(['\r', '\n']).to_owned()),
        Err(error) => Err(vec![format!("is in the file {path}, which cannot be read: {error}")]),
    }
}

fn variables(written: &str, environment: &dyn Environment) -> Result<String, Vec<String>> {
    let mut expanded = String::new();
    let mut missing = Vec::new();
    let mut rest = written;
    while let Some(at) = rest.find("${") {
        let before = &rest[..at];
        rest = &rest[at + 2..];
        if let Some(before) = before.strip_suffix('$') {
            _ = write!(expanded, "{before}${{");
            continue;
        }
        expanded.push_str(before);
        let Some((inside, behind)) = rest.split_once('}') else {
            missing.push("has a ${ without its }; write $${ for a plain ${".to_owned());
            break;
        };
        match variable(inside, environment) {
            Ok(value) => expanded.push_str(&value),
            Err(problem) => missing.push(problem),
        }
        rest = behind;
    }
    expanded.push_str(rest);
    if missing.is_empty() { Ok(expanded) } else { Err(missing) }
}

/// The value of what stands between `${` and `}`.
fn variable(inside: &str, environment: &dyn Environment) -> Result<String, String> {
    let (name, otherwise) = match inside.split_once(":-") {
        Some((name, otherwise)) => (name, Some(otherwise)),
        None => (inside, None),
    };
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(good) {
        return Err(
            "has a ${…} that names no environment variable; letters, digits and _ are allowed".to_owned()
        );
    }
    match (environment.variable(name), otherwise) {
        (Some(value), _) => Ok(value),
        (None, Some(otherwise)) => Ok(otherwise.to_owned()),
        (None, None) => Err(format!("needs the environment variable {name}, which is not set")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Made;

    impl Environment for Made {
        fn variable(&self, name: &str) -> Option<String> {
            match name {
                "USER" => Some("ada".to_owned()),
                "EMPTY" => Some(String::new()),
                "SLY" => Some("file:/etc/passwd".to_owned()),
                "FOLDER" => Some("/run/secrets".to_owned()),
                _ => None,
            }
        }

        fn file(&self, path: &Path) -> io::Result<String> {
            match path.to_str() {
                Some("/run/secrets/pw") => Ok("a ${USER}\n\n".to_owned()),
                _ => Err(io::ErrorKind::NotFound.into()),
            }
        }
    }

    #[test]
    fn variables_and_files_are_put_in() {
        for (written, expected) in [
            ("plain", "plain"),
            ("${USER}", "ada"),
            ("x${USER}y${USER}z", "xadayadaz"),
            ("${EMPTY}", ""),
            ("${NOBODY:-a b}", "a b"),
            ("${USER:-nobody}", "ada"),
            ("$${USER} $USER $", "${USER} $USER $"),
            ("file:/run/secrets/pw", "a ${USER}"),
            ("file:${FOLDER}/pw", "a ${USER}"),
            ("${SLY}", "file:/etc/passwd"),
        ] {
            assert_eq!(expand(written, &Made).unwrap(), expected, "{written}");
        }
    }

    #[test]
    fn everything_that_is_missing_is_named() {
        assert_eq!(
            expand("${A}:${USER}:${B}", &Made).unwrap_err(),
            [
                "needs the environment variable A, which is not set",
                "needs the environment variable B, which is not set"
            ]
        );
        assert_eq!(
            expand("file:/nowhere", &Made).unwrap_err(),
            ["is in the file /nowhere, which cannot be read: entity not found"]
        );
        assert!(expand("${USER", &Made).unwrap_err()[0].contains("without its }"));
        assert!(expand("${a b}", &Made).unwrap_err()[0].contains("names no environment variable"));
    }
}
