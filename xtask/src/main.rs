//! Developer commands of the workspace. `cargo xtask help` lists them.
//!
//! Each command that builds first installs libtorch and the system packages. If they are already installed, this takes a few milliseconds.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of developers, for a terminal"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "it writes into folders of its own, and files of the repository, which git keeps"
)]

mod catalogs;
mod check;
#[cfg_attr(
    unix,
    expect(unsafe_code, reason = "signals, and a session for the tests")
)]
mod deadline;
#[cfg(unix)]
mod deb;
mod exit;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a supervisor of system calls makes them itself")]
mod faults;
mod film;
mod fix;
mod fuzz;
mod import_cycles;
mod libtorch;
mod link;
mod matrix;
mod packages;
mod pictures;
mod python;
mod pytorch;
mod sanitize;
mod scripts;
mod setup;
mod site;
#[cfg(target_os = "linux")]
mod soak;
mod steps;
mod test;
mod version;
mod web;
mod wheel;
mod wording;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::{AlreadyReported, SETUP_FAILED};
use packages::Level;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Set up, build, test, measure and package Loadscope"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install libtorch and the system packages. Afterwards plain `cargo run` and `cargo test` work
    Setup {
        /// Also install a Python environment with PyTorch, for tests that record real programs (up to a few gigabytes, once per user)
        #[arg(long)]
        pytorch: bool,
        /// Also install torchvision, pycocotools, soundfile, lmdb and other references for data formats
        #[arg(long)]
        formats: bool,
        /// Also install the compiler target for the browser, and wasm-bindgen
        #[arg(long)]
        web: bool,
        /// Print the folder of libtorch on standard output
        #[arg(long)]
        print: bool,
    },
    /// Set up and build Loadscope, then open its window with the demo
    Run {
        /// Build with optimisations
        #[arg(long, short)]
        release: bool,
        /// Arguments for Loadscope, as in `cargo xtask run -- open run.jsonl.zst` [default: demo]
        #[arg(last = true)]
        arguments: Vec<OsString>,
    },
    /// Run every test. Arguments go to `cargo test`
    Test {
        /// Arguments for `cargo test`, as in `cargo xtask test -p loadscope -- --nocapture`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run the checks of CI: format, size of a clone, import cycles, catalogs, wording, dependencies, clippy, tests, documentation
    Check {
        /// Skip the tests
        #[arg(long)]
        no_test: bool,
        /// Continue after a failed step
        #[arg(long)]
        keep_going: bool,
    },
    /// Run the benchmarks. Arguments go to `cargo bench`. `--peers` compares with PyTorch and dataloader-rs (`--peers --help`)
    Bench {
        /// Arguments for `cargo bench`, or for the comparison after `--peers`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Run PyTorch programs with and without recording, across PyTorch releases, write tests/pytorch/RESULTS.md
    ProbeMatrix(matrix::Matrix),
    /// Check recordings of typical PyTorch programs, write tests/pytorch/KINDS.md
    #[command(disable_help_flag = true)]
    Kinds(scripts::Arguments),
    /// Check verdicts on PyTorch trainings with injected causes, write tests/pytorch/CAUSES.md. Needs a quiet host
    #[command(disable_help_flag = true)]
    Causes(scripts::Arguments),
    /// Measure the cost of recording a PyTorch program, write tests/pytorch/OVERHEAD.md. Needs a quiet host
    #[command(disable_help_flag = true)]
    ProbeOverhead(scripts::Arguments),
    /// Compare the lines of code of reports with programs that measure themselves, write tests/pytorch/LINES.md
    #[command(disable_help_flag = true)]
    Lines(scripts::Arguments),
    /// Compare the phases of training steps in reports with programs that measure themselves, write tests/pytorch/PHASES.md
    #[command(disable_help_flag = true)]
    Phases(scripts::Arguments),
    /// Check `dump` on programs that hang, write tests/pytorch/HANGS.md. `--healthy MINUTES` also tests `record --alarm`
    #[command(disable_help_flag = true)]
    Hangs(scripts::Arguments),
    /// Compare the idle time of a simulated device with reports, write tests/pytorch/DEVICE.md
    #[command(disable_help_flag = true)]
    Device(scripts::Arguments),
    /// Compare forecasts with real PyTorch, write tests/pytorch/TRUTH.md. Takes half an hour on a quiet host
    #[command(disable_help_flag = true)]
    Truth(scripts::Arguments),
    /// Check lessons: `lesson check FILE…`, `lesson ask FILE QUERY`, `lesson phrases`
    Lesson {
        /// check, ask or phrases, and their arguments (see app/lessons/README.md)
        #[arg(trailing_var_arg = true, required = true)]
        arguments: Vec<OsString>,
    },
    /// Run the engine's tests under AddressSanitizer
    Sanitize {
        /// Test names, and test arguments after `--`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Fuzz the parsers, guided by coverage, add the executions to loader/fuzz/FUZZ.md
    Fuzz(fuzz::Options),
    /// Run the endurance test: a billion events through the recorder, the window and the engine. Takes hours
    #[cfg(target_os = "linux")]
    Soak(soak::Options),
    /// Inject faults into the real program (full disks, kills, closed streams, second writers), write tests/faults/RESULTS.md
    #[cfg(target_os = "linux")]
    Faults(faults::Options),
    /// Send the events of a loader to a recorder, like a PyTorch program (for `faults`)
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Speak(faults::fake_program::FakeProgramOptions),
    /// Run a test binary with a deadline for each test, for `test`
    #[command(hide = true)]
    Deadline {
        /// The binary
        binary: PathBuf,
        /// Its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Read the files of `loadscope export` with DuckDB, pyarrow and Perfetto, in a separate Python environment
    Readers,
    /// Build the browser view, a page that the program includes for `loadscope share`, and print its size
    Web(web::Options),
    /// Build the wheel for pip: the program without the embedded loader, and the Python package
    Wheel(wheel::Options),
    /// Build the site of the documents and example recordings, check its links
    Site(site::Options),
    /// Run random programs in PyTorch and in the engine, reduce those with different results
    #[command(disable_help_flag = true)]
    Differential(scripts::Arguments),
    /// Build the package for Debian and Ubuntu. `--try` installs and starts it
    #[cfg(unix)]
    Deb(deb::Options),
    /// Draw the reference images of the tests again, and compress them
    Screenshots,
    /// Compress the images of tests and README without loss, such as those of UPDATE_SNAPSHOTS=true
    Pictures,
    /// Format the code, sort the catalogs, subset the Chinese font, store lower counts in xtask/wording.toml
    Fix,
    /// Draw the animated images of the README in screenshots/ from frames of the window
    Film,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(with_kept_dashes(std::env::args_os().collect()));
    let code = run(arguments.command).unwrap_or_else(|error| {
        if let Some(AlreadyReported(code)) = error.downcast_ref() {
            return *code;
        }
        eprintln!("error: {error:#}");
        SETUP_FAILED
    });
    ExitCode::from(code)
}

fn run(command: Command) -> anyhow::Result<u8> {
    match command {
        Command::Setup {
            print,
            pytorch,
            formats,
            web,
        } => set_up(print, pytorch, formats, web),
        Command::Run { release, arguments } => {
            let ready = setup::prepare(Level::Window, packages::Missing::Warns)?;
            steps::run(&ready, release, &arguments)
        }
        Command::Test { arguments } => {
            let ready = setup::prepare(Level::Tests, packages::Missing::Fails)?;
            test::test(&ready, &arguments)
        }
        Command::Check {
            no_test,
            keep_going,
        } => {
            // Without the tests, nothing is drawn, so only the compiler is needed.
            let level = if no_test {
                Level::Building
            } else {
                Level::Tests
            };
            let ready = setup::prepare(level, packages::Missing::Fails)?;
            check::check(&ready, &setup::workspace(), !no_test, keep_going)
        }
        Command::Bench { arguments } => match arguments.split_first() {
            Some((first, options)) if first == "--peers" => scripts::peers(&building()?, options),
            _ => steps::bench(&building()?, &arguments),
        },
        Command::ProbeMatrix(options) => matrix::matrix(&building()?, &options),
        Command::Kinds(arguments) => scripts::kinds(&building()?, arguments),
        Command::Causes(arguments) => scripts::causes(&building()?, arguments),
        Command::ProbeOverhead(arguments) => scripts::overhead(&building()?, &arguments),
        Command::Lines(arguments) => scripts::generated(&building()?, &arguments, "lines"),
        Command::Phases(arguments) => scripts::generated(&building()?, &arguments, "phases"),
        Command::Hangs(arguments) => scripts::generated(&building()?, &arguments, "hangs"),
        Command::Device(arguments) => scripts::generated(&building()?, &arguments, "device"),
        Command::Truth(arguments) => scripts::truth(&building()?, &arguments),
        Command::Lesson { arguments } => steps::lesson(&setup::workspace(), &arguments),
        Command::Sanitize { arguments } => sanitize::run(&building()?, &arguments),
        #[cfg(target_os = "linux")]
        Command::Soak(options) => soak::run(&building()?, &setup::workspace(), &options),
        Command::Fuzz(options) => fuzz::run(&building()?, &setup::workspace(), &options),
        #[cfg(target_os = "linux")]
        Command::Faults(options) => faults::run(&building()?, &setup::workspace(), &options),
        #[cfg(target_os = "linux")]
        Command::Speak(speech) => faults::fake_program::run(&speech),
        Command::Deadline { binary, arguments } => deadline::run(&binary, &arguments),
        Command::Readers => steps::readers(&building()?, &setup::workspace()),
        Command::Web(options) => web::run(&setup::target(&setup::workspace()), &options),
        Command::Wheel(options) => wheel::run(&building()?, &options),
        Command::Site(options) => site::run(&building()?, &options),
        Command::Differential(arguments) => scripts::differential(&building()?, arguments),
        #[cfg(unix)]
        Command::Deb(options) => deb::run(&building()?, &options),
        Command::Screenshots => {
            let ready = setup::prepare(Level::Tests, packages::Missing::Fails)?;
            steps::screenshots(&ready, &setup::workspace())
        }
        Command::Pictures => pictures::shrink(&setup::workspace()),
        Command::Fix => fix::fix(&setup::workspace()),
        Command::Film => {
            let ready = setup::prepare(Level::Tests, packages::Missing::Fails)?;
            film::film(&ready, &setup::workspace())
        }
    }
}

fn set_up(print: bool, pytorch: bool, formats: bool, web: bool) -> anyhow::Result<u8> {
    let ready = setup::prepare(Level::Tests, packages::Missing::Warns)?;
    if pytorch {
        let python = pytorch::python(&pytorch::cache()?)?;
        eprintln!("PyTorch is there for {}.", python.display());
    }
    if formats {
        let python = pytorch::with_formats(&pytorch::cache()?)?;
        eprintln!(
            "Formats are compared with the packages of {}.",
            python.display()
        );
    }
    if web {
        web::setup()?;
        web::install(&ready.target)?;
    }
    if print {
        println!("{}", ready.libtorch.display());
    } else {
        eprintln!("Ready: libtorch is in {}.", ready.libtorch.display());
    }
    Ok(0)
}

/// Prepares a build.
fn building() -> anyhow::Result<setup::Ready> {
    setup::prepare(Level::Building, packages::Missing::Fails)
}

/// Doubles a `--` right after `test`, `bench` or `sanitize`. clap removes the first one, but cargo needs it.
fn with_kept_dashes(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let passes_on = matches!(
        arguments.get(1).and_then(|name| name.to_str()),
        Some("test" | "bench" | "sanitize")
    );
    if passes_on && arguments.get(2).is_some_and(|argument| argument == "--") {
        arguments.insert(2, "--".into());
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn passed_on(line: &[&str]) -> Vec<OsString> {
        let line = ["xtask"].iter().chain(line).map(OsString::from).collect();
        match Arguments::parse_from(with_kept_dashes(line)).command {
            Command::Test { arguments }
            | Command::Run { arguments, .. }
            | Command::Bench { arguments } => arguments,
            _ => panic!("not a command that passes arguments on"),
        }
    }

    #[test]
    fn the_command_line_definition_is_valid() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn arguments_after_dashes_reach_cargo_test() {
        assert_eq!(
            passed_on(&["test", "--", "--nocapture"]),
            ["--", "--nocapture"]
        );
        let line = ["test", "-p", "loadscope", "name", "--", "--ignored"];
        assert_eq!(passed_on(&line), line[1..]);
    }

    #[test]
    fn arguments_without_peers_reach_cargo_bench() {
        assert_eq!(passed_on(&["bench", "--", "--quick"]), ["--", "--quick"]);
        let line = ["bench", "-p", "loadscope-engine", "--", "w1"];
        assert_eq!(passed_on(&line), line[1..]);
        let line = ["bench", "--peers", "--only", "w1,w4", "--help"];
        assert_eq!(passed_on(&line), line[1..]);
    }

    #[test]
    fn run_passes_on_arguments_after_the_dashes() {
        assert_eq!(
            passed_on(&["run", "--release", "--", "--seed", "3"]),
            ["--seed", "3"]
        );
    }
}
