//! Soak test: up to a billion events through the recorder with a limit, the window and the embedded loader. The memory of this process,
//! its descriptors, its threads and the size of the recording may not grow.
//!
//! `cargo xtask soak` runs every part and stores the rows of the tables. Without arguments the bench does nothing.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints a table and its progress"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "it makes files in a folder of its own"
)]

mod engine;
mod fold;
mod job;
mod monitor;
mod recorder;
#[path = "../recording/mod.rs"]
mod recording;
mod reference;
mod training;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, ValueEnum};

use job::Job;
use monitor::Monitor;
use recorder::Clock;

/// Allocator of the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

#[derive(Parser)]
struct Arguments {
    part: Option<Part>,
    /// Number of events
    #[arg(long, default_value_t = 1_000_000)]
    events: u64,
    /// Seed of random times
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Recording to copy, for `copy`
    #[arg(long)]
    recording: Option<PathBuf>,
    /// Passed by cargo to each benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

/// Part of the program that runs for weeks.
#[derive(Clone, Copy, ValueEnum)]
enum Part {
    /// Recorder with a limit
    Recorder,
    /// The same with a clock that is set by hours, sorted like the events of the embedded loader
    Clock,
    /// The same without sorting
    ClockUnsorted,
    /// Window with run after run
    Fold,
    /// Embedded loader with a recording
    Engine,
    /// Copy of a growing recording, a process that `engine` starts
    Copy,
}

/// Prints the rows of a table. The exit code is 1 if a row fails.
fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let Some(part) = arguments.part else {
        println!("It is started by `cargo xtask soak`.");
        return Ok(ExitCode::SUCCESS);
    };
    if let (Part::Copy, Some(recording)) = (part, &arguments.recording) {
        engine::copy(recording)?;
        return Ok(ExitCode::SUCCESS);
    }
    let folder = tempfile::Builder::new()
        .prefix("loadscope-soak-")
        .tempdir()?;
    let monitor = Monitor::start(arguments.events)?;
    let job = Job {
        folder: folder.path(),
        events: arguments.events,
        seed: arguments.seed,
        monitor: &monitor,
    };
    match part {
        Part::Recorder => recorder::run(&job, Clock::Steady)?,
        Part::Clock => recorder::run(&job, Clock::Sorted)?,
        Part::ClockUnsorted => recorder::run(&job, Clock::Raw)?,
        Part::Fold => fold::run(&job)?,
        Part::Engine | Part::Copy => engine::run(&job)?,
    }
    Ok(ExitCode::from(u8::from(monitor.has_failed())))
}
