//! `loadscope completions`, and `loadscope manual` for packagers. Both use clap's description of the command line.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;
use loadscope_files::{AtomicFile, Existing};
use loadscope_words::say;

use super::terminal::print_bytes;

/// A shell.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell
    shell: Shell,
}

/// The folder for the man pages.
#[derive(Debug, Args)]
pub struct ManualArgs {
    /// Existing folder
    folder: PathBuf,
}

/// Prints the completion script of a shell.
pub fn completions(args: &CompletionsArgs, mut program: Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "loadscope", &mut script);
    print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a man page for the program and one for each command.
pub fn manual(args: &ManualArgs, mut command: Command) -> anyhow::Result<ExitCode> {
    // `build` adds the name of the program to its commands.
    command.build();
    page(&args.folder, "loadscope", &command)?;
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        if sub.get_name() != "help" {
            page(&args.folder, &format!("loadscope-{}", sub.get_name()), sub)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn page(folder: &Path, name: &str, command: &Command) -> anyhow::Result<()> {
    let path = folder.join(format!("{name}.1"));
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone())
        .title(name)
        .render(&mut text)?;
    AtomicFile::write_all_to(&path, Existing::Replace, &text)
        .with_context(|| say!("cannot write {}", path.display()))
}
