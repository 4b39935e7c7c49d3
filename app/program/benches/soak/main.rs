//! What a recording of weeks goes through, in an hour: events by the thousand million through the recorder with a limit, the window's
//! fold and the engine. `cargo xtask soak` starts it, watches it from outside and writes the table; by itself it does nothing.
//!
//! Arguments: `part=recorder|fold|engine|copy`, `folder=PATH`, `events=N`, `seed=N`, and of the recorder `clock=steady|sorted|raw`. It prints
//! lines of JSON: how far it is, where it writes, and at the end what was held against what.

#![allow(clippy::print_stdout, reason = "it tells the command what it measures")]
#![allow(
    clippy::disallowed_methods,
    reason = "it makes files in a folder of its own"
)]

mod compare;
mod copy;
mod counts;
mod engine;
mod fold;
mod found;
mod job;
mod ledger;
mod print;
mod recorder;
mod say;
mod size;
mod training;

use anyhow::{Result, bail};

use job::{Job, Part};

/// As in the program.
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
