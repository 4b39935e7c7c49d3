//! Set-up and chores of the workspace: `cargo xtask run | test | check | sanitize | fuzz | size | soak | faults | bench | forecasts | truth | diagnosis | lesson | readers | differential | web | wheel | deb | site | probe-matrix |
//! kinds | causes | probe-overhead | screenshots | pictures`.
//!
//! Every command that builds first sees to libtorch and the system packages; once they are there, that takes
//! a few milliseconds.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of developers, for a terminal"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "it writes into folders of its own, and files of the repository, which git keeps"
)]

mod bench;
mod check;
mod circles;
#[cfg(unix)]
mod deb;
mod differential;
mod exit;
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a supervisor of system calls makes them itself")]
mod faults;
mod film;
mod fuzz;
mod kinds;
mod libtorch;
mod link;
mod packages;
mod pictures;
mod probe;
mod python;
mod pytorch;
mod rebuild;
mod sanitize;
mod setup;
mod site;
mod size;
#[cfg(target_os = "linux")]
mod soak;
mod spread;
mod steps;
mod test;
mod truth;
mod version;
mod web;
mod wheel;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use exit::{AlreadySaid, SETUP_FAILED};
use packages::Level;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Sets up what Loadscope needs, then runs, tests or checks it"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Get libtorch and the system packages; after it plain `cargo run` and `cargo test` work too
    Setup {
        /// Also a Python environment with PyTorch, for the tests that record real programs; some hundred megabytes to a few
        /// gigabytes, once per user
        #[arg(long)]
        pytorch: bool,
        /// Also, over that one, what formats of data are compared with: torchvision, pycocotools, soundfile, lmdb and others
        #[arg(long)]
        formats: bool,
        /// Also a compiler for the crates that run in a browser, and wasm-bindgen
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
    /// Run every test; arguments go to `cargo test`
    Test {
        /// Arguments for `cargo test`, as in `cargo xtask test -p loadscope -- --nocapture`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Everything CI checks: formatting, size of a clone, circles of files, dependencies, clippy, tests, documentation
    Check {
        /// Leave the tests out
        #[arg(long)]
        no_test: bool,
        /// Go on after a step that failed
        #[arg(long)]
        keep_going: bool,
    },
    /// Run the benchmarks; arguments go to `cargo bench`. With `--peers`: beside PyTorch and dataloader-rs
    Bench {
        #[command(flatten)]
        comparison: bench::Options,
        /// Arguments for `cargo bench`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Forecast other settings from recordings, then really run them; writes loader/engine/FORECASTS.md. Takes two minutes on a quiet
    /// host
    Forecasts,
    /// Record PyTorch programs with and without Loadscope, over releases of PyTorch and ways of starting workers; writes
    /// tests/pytorch/RESULTS.md
    ProbeMatrix(probe::Matrix),
    /// Record programs as people write them with real PyTorch, and hold the recordings against the truth; writes
    /// tests/pytorch/KINDS.md
    Kinds(kinds::Options),
    /// Put causes into trainings with real PyTorch, ask the verdict and try what it offers; writes tests/pytorch/CAUSES.md. Wants a
    /// quiet host
    Causes(kinds::Options),
    /// Measure what recording a PyTorch program costs; writes tests/pytorch/OVERHEAD.md. Wants a quiet host
    ProbeOverhead(probe::Overhead),
    /// Record workloads in real PyTorch, forecast other settings from that, and really run them; writes tests/pytorch/TRUTH.md. Takes half
    /// an hour on a quiet host
    Truth(truth::Options),
    /// Put causes into runs and ask the verdict; writes loader/engine/DIAGNOSIS.md
    Diagnosis {
        /// Sets of seeds, as in 201..205; without, these
        seeds: Option<String>,
    },
    /// Play lessons and say what is wrong with them: `lesson check FILE…`, `lesson ask FILE QUERY`, `lesson phrases`
    Lesson {
        /// check, ask or phrases, and what belongs to it; see app/lessons/README.md
        #[arg(trailing_var_arg = true, required = true)]
        arguments: Vec<OsString>,
    },
    /// Run the engine's tests under AddressSanitizer
    Sanitize {
        /// Names of tests, and arguments for them after `--`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Make up hostile input, guided by what it reaches; adds what was done to loader/fuzz/FUZZ.md
    Fuzz(fuzz::Options),
    /// Read 10 million rows or 100,000 files of each format of data: when the first batch is there, what memory an epoch takes; writes
    /// loader/formats/SIZE.md. Needs 2 GB for a while
    Size(size::Options),
    /// Put a thousand million events through the recorder with a limit, the window and the engine, and watch what they take; with --write
    /// into tests/soak/RESULTS.md. Takes hours
    #[cfg(target_os = "linux")]
    Soak(soak::Options),
    /// Inject faults into the real program: full disks, kills, limits, closed streams, second writers, dead displays; writes
    /// tests/faults/RESULTS.md
    #[cfg(target_os = "linux")]
    Faults(faults::Options),
    /// Tell a recorder of a loader, as a PyTorch program does; for `faults`
    #[cfg(target_os = "linux")]
    #[command(hide = true)]
    Speak(faults::speak::Speech),
    /// Hold what `loadscope export` writes against DuckDB, pyarrow and Perfetto, in a Python environment of its own
    Readers,
    /// Build the window in a browser: one page, which the program includes for `loadscope share`; says its size
    Web(web::Options),
    /// Build the package for pip: the program without the embedded loader and the Python package, in one wheel
    Wheel(wheel::Options),
    /// Write the site: documentation, and recordings in the live window; checks its links
    Site(site::Options),
    /// Run programs that are drawn by seed by the real PyTorch and by the engine, and make those smaller that are answered differently
    Differential(differential::Options),
    /// Build the package for Debian and Ubuntu; `--try` installs and starts it
    #[cfg(unix)]
    Deb(deb::Options),
    /// Draw the pictures that the picture tests compare with anew, and make them small
    Screenshots,
    /// Measure how long the program takes to build after one line was changed, beside another checkout if one is given. Wants a quiet
    /// host
    Rebuild(rebuild::Options),
    /// Make the pictures of the tests and of the README small, without changing a pixel; for those that were drawn by
    /// UPDATE_SNAPSHOTS=true
    Pictures,
    /// Count how many of the texts that people read stand in catalogs, crate by crate
    Words(words::Options),
    /// Make the short films of the README: the window's own frames, as animated pictures in screenshots/
    Film,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse_from(with_kept_dashes(std::env::args_os().collect()));
    let code = run(arguments.command).unwrap_or_else(|error| {
        if let Some(AlreadySaid(code)) = error.downcast_ref() {
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
            // Without the tests nothing is drawn, so only the compiler is needed.
            let level = if no_test {
                Level::Building
            } else {
                Level::Tests
            };
            let ready = setup::prepare(level, packages::Missing::Fails)?;
            check::check(&ready, &setup::workspace(), !no_test, keep_going)
        }
        Command::Bench {
            comparison,
            arguments,
        } => {
            let ready = setup::prepare(Level::Building, packages::Missing::Fails)?;
            match comparison.peers {
                true => bench::compare(&ready, &setup::workspace(), &comparison),
                false => steps::bench(&ready, &arguments),
            }
        }
        Command::Forecasts => steps::forecasts(&building()?, &setup::workspace()),
        Command::ProbeMatrix(options) => probe::matrix(&building()?, &setup::workspace(), &options),
        Command::Kinds(options) => kinds::kinds(&building()?, &setup::workspace(), &options),
        Command::Causes(options) => kinds::causes(&building()?, &setup::workspace(), &options),
        Command::ProbeOverhead(options) => {
            probe::overhead(&building()?, &setup::workspace(), &options)
        }
        Command::Truth(options) => truth::run(&building()?, &setup::workspace(), &options),
        Command::Diagnosis { seeds } => {
            steps::diagnosis(&building()?, &setup::workspace(), seeds.as_deref())
        }
        Command::Lesson { arguments } => steps::lesson(&setup::workspace(), &arguments),
        Command::Sanitize { arguments } => sanitize::run(&building()?, &arguments),
        Command::Size(options) => size::run(&building()?, &setup::workspace(), &options),
        #[cfg(target_os = "linux")]
        Command::Soak(options) => soak::run(&building()?, &setup::workspace(), &options),
        Command::Fuzz(options) => fuzz::run(&building()?, &setup::workspace(), &options),
        #[cfg(target_os = "linux")]
        Command::Faults(options) => faults::run(&building()?, &setup::workspace(), &options),
        #[cfg(target_os = "linux")]
        Command::Speak(speech) => faults::speak::speak(&speech),
        Command::Readers => steps::readers(&building()?, &setup::workspace()),
        Command::Web(options) => web::run(&setup::target(&setup::workspace()), &options),
        Command::Wheel(options) => wheel::run(&building()?, &options),
        Command::Site(options) => site::run(&building()?, &options),
        Command::Differential(options) => differential::run(&building()?, &options),
        #[cfg(unix)]
        Command::Deb(options) => deb::run(&building()?, &options),
        Command::Screenshots => {
            let ready = setup::prepare(Level::Tests, packages::Missing::Fails)?;
            steps::screenshots(&ready, &setup::workspace())
        }
        Command::Rebuild(options) => {
            building()?;
            rebuild::run(&options)
        }
        Command::Pictures => pictures::shrink(&setup::workspace()),
        Command::Words(options) => words::run(&setup::workspace(), &options).map(|()| 0),
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

/// What it takes to build.
fn building() -> anyhow::Result<setup::Ready> {
    setup::prepare(Level::Building, packages::Missing::Fails)
}

/// Doubles a `--` that comes right after `test`, `bench` or `sanitize`: clap eats the first one, cargo needs it.
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
            | Command::Bench { arguments, .. } => arguments,
            _ => panic!("not a command that passes arguments on"),
        }
    }

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn dashes_reach_cargo_test() {
        assert_eq!(
            passed_on(&["test", "--", "--nocapture"]),
            ["--", "--nocapture"]
        );
        let line = ["test", "-p", "loadscope", "name", "--", "--ignored"];
        assert_eq!(passed_on(&line), line[1..]);
    }

    #[test]
    fn what_is_not_about_peers_reaches_cargo_bench() {
        assert_eq!(passed_on(&["bench", "--", "--quick"]), ["--", "--quick"]);
        let line = ["bench", "-p", "loadscope-engine", "--", "w1"];
        assert_eq!(passed_on(&line), line[1..]);
        let line = ["bench", "--peers", "--only", "w1,w4", "--rounds", "2"];
        assert!(passed_on(&line).is_empty());
    }

    #[test]
    fn run_passes_on_what_follows_the_dashes() {
        assert_eq!(
            passed_on(&["run", "--release", "--", "--seed", "3"]),
            ["--seed", "3"]
        );
    }
}
