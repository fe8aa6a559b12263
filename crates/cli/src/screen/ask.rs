//! Asking before something large or final is done.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::exit::Coded;

/// Whether a person says yes. Where nobody can be asked, the command line has to say it.
pub(crate) fn confirm(question: &str) -> anyhow::Result<bool> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Coded::not_understood(format!("{question} Write --yes to do it without being asked")));
    }
    let mut err = io::stderr();
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

/// Whatever is not a clear yes is a no.
fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert!(["y\n", "YES", " yes "].into_iter().all(is_yes));
        assert!(!["", "\n", "n", "no", "yeah", "j"].into_iter().any(is_yes));
    }
}
