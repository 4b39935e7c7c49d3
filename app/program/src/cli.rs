//! The command line.

mod arguments;
mod attach;
mod compare;
mod dump;
mod export;
mod follow;
mod help;
mod info;
mod install;
mod interrupt;
mod language;
mod learn;
mod load;
mod manual;
mod number;
mod order;
mod output;
mod pick;
mod program;
mod repair;
mod report;
mod share;
mod stacks;
mod terminal;
mod truncation;
mod tune;
mod web;
mod what_if;
mod window;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use loadscope_files::ignore_file_size_signal;
#[cfg(target_os = "linux")]
use loadscope_trace::spill_to;
use loadscope_words::{Language, language, set_language};

pub use load::LoadArgs;
pub use terminal::{error_sentence, print_message};
pub use window::{Renderer, WindowArgs};

/// Find out why PyTorch training waits for data
#[derive(Debug, Parser)]
#[command(
    name = "loadscope",
    // A fixed name, because the executable file can have any name.
    bin_name = "loadscope",
    version,
    after_help = "\
Examples:
  loadscope watch -- python train.py
  loadscope record -- python train.py
  loadscope report run.jsonl.zst",
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
    /// Run a PyTorch program and record its data loading
    ///
    /// The program needs no change. Its output and its exit code stay the same.
    Record(program::RecordArgs),
    /// Run a PyTorch program and watch its data loading live
    ///
    /// The program needs no change. Its output and its exit code stay the same.
    Watch(program::WatchArgs),
    /// Record a running PyTorch program (run `loadscope install` before the program starts)
    ///
    /// Run `loadscope install` for its Python before the program starts. Each loader is recorded from its next iterator on. Ctrl+C ends the
    /// recording, and the program continues.
    Attach(attach::AttachArgs),
    /// Explain a program that hangs: stacks, waits, and the cause
    ///
    /// Needs no preparation, and stops no process. Finds locks, full queues, stopped and killed workers, and files that do not answer.
    Dump(dump::DumpArgs),
    /// Record the calling process
    #[command(hide = true)]
    Listen(attach::AttachArgs),
    /// Explain why training waited and what to change
    Report(report::ReportArgs),
    /// Print a summary of a recording
    Info {
        /// Recording, folder of recordings, or trace of another tool
        ///
        /// Reads .jsonl, .jsonl.zst, traces of torch.profiler, folders of LotusTrace logs and statistics of SPDL.
        file: PathBuf,
        #[command(flatten)]
        loader: pick::OnlyLoaderArg,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Compare two recordings
    Compare(compare::CompareArgs),
    /// Forecast other settings from a recording
    WhatIf(what_if::WhatIfArgs),
    /// Run a PyTorch program with different DataLoader settings and find the fastest
    Tune(tune::TuneArgs),
    /// Open recordings in the window (needs a display)
    Open {
        /// Recordings, folders of recordings, or traces of other tools [default: the start page]
        ///
        /// Reads .jsonl, .jsonl.zst, traces of torch.profiler, folders of LotusTrace logs and statistics of SPDL.
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Show a recording in a browser (needs no display)
    View(web::ViewArgs),
    /// Write a recording as a single HTML page
    Share(share::ShareArgs),
    /// Export a recording to Perfetto, speedscope, pprof, CSV or Parquet
    Export(export::ExportArgs),
    /// Recover the intact lines of a damaged recording
    Repair(repair::RepairArgs),
    /// Open the window with a demo: handwritten digits, four workers, a few slow samples
    Demo,
    /// Open the lessons about the DataLoader
    Learn(learn::LearnArgs),
    /// Load a dataset with Loadscope's own DataLoader, without PyTorch and without a window
    Run(Box<LoadArgs>),
    /// Print the sample order that PyTorch would use, without loading anything
    Order(Box<order::OrderArgs>),
    /// Prepare a Python environment for `attach`
    ///
    /// `record` and `watch` then also reach programs whose wrapper clears the environment variables.
    Install(install::InstallArgs),
    /// Undo `install`
    Uninstall(install::InstallArgs),
    /// Print the recording probe, a Python module that a program can import
    ///
    /// Save it as loadscope_probe.py next to the program, and write `import loadscope_probe` on the program's first line.
    Probe,
    /// Print shell completions
    ///
    /// Example: loadscope completions bash > ~/.local/share/bash-completion/completions/loadscope
    Completions(manual::CompletionsArgs),
    /// Write the man pages to a folder
    #[command(hide = true)]
    Manual(manual::ManualArgs),
}

/// Prints the requested help or the error in the arguments.
fn help_or_error(error: &clap::Error) -> anyhow::Result<ExitCode> {
    let code = ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
    if language() != Language::En {
        // The error is rendered without colors, because clap's own texts are replaced.
        let text = help::reworded(error.render().to_string());
        match error.use_stderr() {
            true => terminal::print_usage_error(&text),
            false => terminal::print_line(text.trim_end())?,
        }
        return Ok(code);
    }
    if error.use_stderr() {
        // The error is printed without colors, because it quotes arguments. A shell can expand them to file names from an untrusted folder.
        terminal::print_usage_error(&error.render().to_string());
        return Ok(code);
    }
    // The help contains only Loadscope's own text.
    match error.print() {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(terminal::unwritable(&e)),
        _ => Ok(code),
    }
}

/// Parses the command line and runs the command.
///
/// # Errors
/// Returns an error message for the user.
pub fn run() -> anyhow::Result<ExitCode> {
    ignore_file_size_signal();
    set_language(language::of_arguments(std::env::args_os()));
    let matches = help::translated(help::shown(Cli::command())).try_get_matches();
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(e) => return help_or_error(&help::with_tip(e)),
    };
    #[cfg(target_os = "linux")]
    {
        let folders = [std::env::temp_dir(), "/var/tmp".into()];
        spill_to(folders.into_iter().chain(dirs::cache_dir()));
    }
    match cli.command {
        None => window::open(Vec::new(), &cli.window),
        Some(Sub::Demo) => window::demo(&cli.window),
        Some(Sub::Open { files }) => window::open(files, &cli.window),
        Some(Sub::Learn(args)) => learn::run(&args, &cli.window),
        Some(Sub::Record(args)) => program::record(&args),
        Some(Sub::Watch(args)) => program::watch(&args, &cli.window),
        Some(Sub::Attach(args)) => attach::attach(&args),
        Some(Sub::Dump(args)) => dump::run(&args),
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
        Some(Sub::Completions(args)) => manual::completions(&args, help::shown(Cli::command())),
        Some(Sub::Manual(args)) => manual::manual(&args, help::shown(Cli::command())),
        Some(Sub::Info { file, loader, json }) => info::run(&file, &loader, json),
    }
}
