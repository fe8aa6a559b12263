//! `posthaste completions`: what a shell needs to complete command lines.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{End, Program, screen::print};

const EXAMPLES: &str = "\
Examples:
  posthaste completions bash > /etc/bash_completion.d/posthaste
  posthaste completions zsh > ~/.zfunc/_posthaste
  posthaste completions fish > ~/.config/fish/completions/posthaste.fish
  source <(posthaste completions bash)";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Which shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<End> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Program::command(), "posthaste", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(End::Fine)
}
