//! `cargo xtask examples`: runs each program of `examples/src/bin` and compares what it prints with
//! `examples/expected`.

use std::{collections::BTreeSet, env, fs, path::Path, process::Command, time::Duration};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::{
    process::{self, End},
    workspace::Workspace,
};

/// An example shows something in a moment; one that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Args, Default)]
pub(crate) struct Options {
    /// Write what the examples print as the expected output
    #[arg(long)]
    bless: bool,
}

/// Runs all examples, and fails if one of them prints something else.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let folder = workspace.root.join("examples");
    let programs = names(&folder.join("src/bin"), "rs")?;
    let expected = names(&folder.join("expected"), "txt")?;
    if let Some(orphan) = expected.difference(&programs).next() {
        bail!("examples/expected/{orphan}.txt has no program examples/src/bin/{orphan}.rs");
    }
    if programs.is_empty() {
        println!("there are no examples yet");
        return Ok(());
    }
    let bins: Vec<String> = programs.iter().map(|name| format!("--bin {name}")).collect();
    workspace.build(&bins.join(" "))?;

    let mut wrong = Vec::new();
    for name in &programs {
        let printed = run_one(workspace, name)?;
        let path = folder.join("expected").join(format!("{name}.txt"));
        if options.bless {
            fs::create_dir_all(folder.join("expected"))?;
            fs::write(&path, &printed)?;
        }
        let wanted = fs::read_to_string(&path).with_context(|| {
            format!("examples/expected/{name}.txt is missing; `cargo xtask examples --bless` writes it")
        })?;
        match difference(&wanted, &printed) {
            None => println!("example {name}: as expected"),
            Some(difference) => {
                println!("example {name}: - expected, + printed\n{difference}");
                wrong.push(name.as_str());
            }
        }
    }
    if !wrong.is_empty() {
        bail!("these examples print something else: {}", wrong.join(", "));
    }
    Ok(())
}

/// The names of the files with this extension; none if there is no such folder.
fn names(folder: &Path, extension: &str) -> Result<BTreeSet<String>> {
    if !folder.is_dir() {
        return Ok(BTreeSet::new());
    }
    let mut names = BTreeSet::new();
    for file in fs::read_dir(folder)? {
        let path = file?.path();
        if path.extension().is_some_and(|found| found == extension) {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    Ok(names)
}

/// What the example prints, run in an empty folder of its own.
fn run_one(workspace: &Workspace, name: &str) -> Result<String> {
    let folder = workspace.target.join("examples-run").join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("work"))?;
    let (stdout, stderr) = (folder.join("stdout.txt"), folder.join("stderr.txt"));
    let program = workspace.target.join("debug").join(format!("{name}{}", env::consts::EXE_SUFFIX));

    let mut command = Command::new(program);
    let end = process::run_limited(command.current_dir(folder.join("work")), LIMIT, &stdout, &stderr)?;
    let printed = String::from_utf8_lossy(&fs::read(&stdout)?).into_owned();
    if end != End::Passed {
        let said = String::from_utf8_lossy(&fs::read(&stderr)?).into_owned();
        let how = if end == End::TimedOut { "did not end in time" } else { "failed" };
        bail!("example {name} {how}; it said:\n{printed}{said}");
    }
    Ok(printed)
}

/// The lines that differ, without what both begin and end with; none if they are the same.
fn difference(wanted: &str, printed: &str) -> Option<String> {
    if wanted == printed {
        return None;
    }
    let wanted: Vec<_> = wanted.split_inclusive('\n').collect();
    let printed: Vec<_> = printed.split_inclusive('\n').collect();
    let start = wanted.iter().zip(&printed).take_while(|(a, b)| a == b).count();
    let rest = wanted.len().min(printed.len()) - start;
    let end = wanted.iter().rev().zip(printed.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();

    let show = |mark: char, lines: &[&str]| {
        lines.iter().map(|line| format!("{mark} {}\n", line.trim_end_matches('\n'))).collect::<String>()
    };
    let from_line = format!("line {}:\n", start + 1);
    Some(
        from_line
            + &show('-', &wanted[start..wanted.len() - end])
            + &show('+', &printed[start..printed.len() - end]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_only_the_lines_that_differ() {
        let cases = [
            ("a\nb\nc\n", "a\nb\nc\n", None),
            ("a\nb\nc\n", "a\nx\ny\nc\n", Some("line 2:\n- b\n+ x\n+ y\n")),
            ("a\n", "", Some("line 1:\n- a\n")),
            ("a\na\n", "a\na\na\n", Some("line 3:\n+ a\n")),
            ("a\n", "a", Some("line 1:\n- a\n+ a\n")),
        ];
        for (wanted, printed, expected) in cases {
            assert_eq!(difference(wanted, printed).as_deref(), expected, "{wanted:?} {printed:?}");
        }
    }
}
