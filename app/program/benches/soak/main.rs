//! Soak test: weeks of recording in an hour. Billions of events go through the recorder with a limit, the window and the embedded loader.
//! `cargo xtask soak` starts it, measures the process and writes the table. Without arguments it does nothing.
//!
//! Arguments: `part=recorder|fold|engine|copy`, `folder=PATH`, `events=N`, `seed=N`, and for the recorder `clock=steady|sorted|raw`. It
//! prints lines of JSON: the progress, the output folder, and finally the results of the comparison.

#![allow(clippy::print_stdout, reason = "it tells the command what it measures")]
#![allow(
    clippy::disallowed_methods,
    reason = "it makes files in a folder of its own"
)]

mod compare;
mod copy;
mod counts;
mod engine;
mod fingerprint;
mod fold;
mod job;
mod output;
mod recorder;
mod recording_counts;
mod reference;
mod size;
mod training;

use anyhow::{Result, bail};

use job::{Job, Part};

/// Allocator of the program.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: loadscope::allocator::Allocator = loadscope::allocator::Allocator;

fn main() -> Result<()> {
    let Some(job) = Job::of(std::env::args().skip(1))? else {
        println!("It is started by `cargo xtask soak`.");
        return Ok(());
    };
    if !job.folder.is_dir() {
        bail!(
            "{} is not a folder. Name one with folder=PATH",
            job.folder.display()
        );
    }
    match job.part {
        Part::Recorder => recorder::run(&job),
        Part::Fold => fold::run(&job),
        Part::Engine => engine::run(&job),
        Part::Copy => copy::run(&job.folder),
    }
}
