//! The command line.

mod arguments;
mod attach;
mod compare;
mod export;
mod force;
mod help;
mod info;
mod install;
mod interrupt;
mod language;
mod learn;
mod limits;
mod load;
mod manual;
mod order;
mod pick;
mod program;
mod repair;
mod report;
mod select;
mod share;
mod terminal;
mod tune;
mod web;
mod what_if;
mod window;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use loadscope_files::survive_size_limit;
use loadscope_words::{Language, language, say, set_language};

pub use load::LoadArgs;
pub use terminal::complain;
pub use window::{Renderer, WindowArgs};

/// Makes the inside of a data loader visible.
#[derive(Debug, Parser)]
#[command(
    name = "loadscope",
    // Not the name of the file, which may hold anything.
    bin_name = "loadscope",
    version,
    about,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Sub>,
    #[command(flatten)]
    window: WindowArgs,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Open the window with recordings
    Open {
        /// Recordings (.jsonl or .jsonl.zst) or folders of them, traces of torch.profiler, folders of LotusTrace logs, SPDL's statistics;
        /// without any the window opens with its start page
        files: Vec<PathBuf>,
    },
    /// Open the window and run a loader of handwritten digits with four workers, some of whose samples are slow
    Demo,
    /// Open the window at a lesson about the DataLoader
    Learn(learn::LearnArgs),
    /// Run a PyTorch program, unchanged, and record what its data loaders do
    Record(program::RecordArgs),
    /// Run a PyTorch program, unchanged, and watch its data loaders live
    Watch(program::WatchArgs),
    /// Record a PyTorch program that runs already, from its next iterator of a DataLoader on
    Attach(attach::AttachArgs),
    /// Record the process that calls this
    #[command(hide = true)]
    Listen(attach::AttachArgs),
    /// Let all programs of a Python environment be recorded whatever becomes of their environment, and attached to while they run
    Install(install::InstallArgs),
    /// Undo `install`
    Uninstall(install::InstallArgs),
    /// Print the probe, for programs that import it themselves
    Probe,
    /// Load a dataset without a window
    Run(Box<LoadArgs>),
    /// Print which batches a loader will yield, as PyTorch yields them, without loading anything
    Order(Box<order::OrderArgs>),
    /// Print why training waited, and what to do about it
    Report(report::ReportArgs),
    /// Compare two recordings
    Compare(compare::CompareArgs),
    /// Predict from a recording the effect of other settings
    WhatIf(what_if::WhatIfArgs),
    /// Run a PyTorch program several times, unchanged, with other arguments of DataLoader, and say which are the fastest
    Tune(tune::TuneArgs),
    /// Write a recording as one page, which opens in any browser
    Share(share::ShareArgs),
    /// Show a recording in a browser, from this host alone
    View(web::ViewArgs),
    /// Write a recording as a trace for Perfetto, or as tables
    Export(export::ExportArgs),
    /// Keep the sound lines of a damaged recording
    Repair(repair::RepairArgs),
    /// Print what your shell reads to complete commands: loadscope completions bash > ~/.local/share/bash-completion/completions/loadscope
    Completions(manual::CompletionsArgs),
    /// Write the man pages into a folder
    #[command(hide = true)]
    Manual(manual::ManualArgs),
    /// Print the facts about a recording
    Info {
        /// A recording (.jsonl or .jsonl.zst), a folder of them, or what another tool wrote
        file: PathBuf,
        #[command(flatten)]
        loader: pick::LoaderArg,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn help_or_error(error: &clap::Error) -> anyhow::Result<ExitCode> {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if language() != Language::En {
        // Without colours, because clap's own words are replaced.
        let text = help::reworded(error.render().to_string());
        match error.use_stderr() {
            true => terminal::refuse(&text),
            false => terminal::say(text.trim_end())?,
        }
        return Ok(code);
    }
    if error.use_stderr() {
        // Without colours: it quotes the arguments, among which are names that a shell found in a folder of strangers'.
        terminal::refuse(&error.render().to_string());
        return Ok(code);
    }
    // The help holds nothing but our own words.
    match error.print() {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow::anyhow!(say!("standard output: {e}")))
        }
        _ => Ok(code),
    }
}

/// Does what the command line says.
///
/// # Errors
/// A sentence for the user.
pub fn run() -> anyhow::Result<ExitCode> {
    survive_size_limit();
    set_language(language::of_arguments(std::env::args_os()));
    let matches = help::spoken(Cli::command()).try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(e) => return help_or_error(&e),
    };
    // Who only loads has large lists of samples, which are read all the time.
    #[cfg(target_os = "linux")]
    if !matches!(cli.command, Some(Sub::Run(_))) {
        crate::allocator::use_the_disk();
    }
    match cli.command {
        None => window::open(Vec::new(), &cli.window),
        Some(Sub::Demo) => window::demo(&cli.window),
        Some(Sub::Open { files }) => window::open(files, &cli.window),
        Some(Sub::Learn(args)) => learn::run(&args, &cli.window),
        Some(Sub::Record(args)) => program::record(&args),
        Some(Sub::Watch(args)) => program::watch(&args, &cli.window),
        Some(Sub::Attach(args)) => attach::attach(&args),
        Some(Sub::Listen(args)) => attach::listen(&args),
        Some(Sub::Install(args)) => install::run(&args, "install"),
        Some(Sub::Uninstall(args)) => install::run(&args, "uninstall"),
        Some(Sub::Probe) => program::probe(),
        Some(Sub::Run(args)) => load::run(&args),
        Some(Sub::Order(args)) => order::run(&args),
        Some(Sub::Share(args)) => share::share(&args),
        Some(Sub::View(args)) => web::view(&args),
        Some(Sub::Export(args)) => export::run(&args),
        Some(Sub::Compare(args)) => compare::run(&args),
        Some(Sub::Report(args)) => report::run(&args),
        Some(Sub::Repair(args)) => repair::run(&args),
        Some(Sub::WhatIf(args)) => what_if::run(&args),
        Some(Sub::Tune(args)) => tune::run(&args),
        Some(Sub::Completions(args)) => manual::completions(&args, Cli::command()),
        Some(Sub::Manual(args)) => manual::manual(&args, Cli::command()),
        Some(Sub::Info { file, loader, json }) => info::run(&file, &loader, json),
    }
}
