//! Where events come from: the embedded engine, the simulator, recordings, programs that are watched. The only crate of the
//! program that names the engine, and the only one that names the formats of others.
//!
//! Whatever the origin, what arrives is a [`SessionEvent`] on one channel. A thread of its own sorts the events and writes the
//! log, so that neither the loader nor the window waits for a disk.

#![forbid(unsafe_code)]

use loadscope_insight::Datasets;
use loadscope_plan::order::Samples;
use loadscope_trace::RunOptions;

loadscope_words::catalogs!();

mod again;
#[cfg(feature = "engine")]
mod engine;
#[cfg(not(feature = "engine"))]
#[path = "no_engine.rs"]
mod engine;
mod error;
mod event_sink;
mod events;
mod export;
mod file;
mod folder;
mod journal;
mod limited;
mod memory;
mod memory_bound;
mod opened;
mod opener;
mod packed;
mod partial_run;
mod reading;
mod record;
mod recording;
mod selection;
mod session;
mod simulator;
pub mod tune;
mod watch;

pub use engine::HAS_ENGINE;
pub use error::SessionError;
pub use export::{ExportFormat, export_runs, refuse_export_onto};
pub use file::{look, refusal};
pub use journal::{Entry, Journal, LeftOver, NewEntry};
pub use limited::{Limited, Limits, NewLimited};
pub use loadscope_insight::session_event::{Notice, SessionEvent};
pub use loadscope_live::{
    Address, Attach, AttachError, Effects, End, Output, PROBE, ProgramError, Remote, Request, SSH,
    Stop, at_exit, end_at_once, end_by, ending_signals, give_signals_back, take_ending_signals,
    take_signals,
};
pub use memory_bound::{History, memory_of_host};
pub use opened::{Opened, open, read_run};
pub use packed::{Packed, packed};
pub use partial_run::PartialRun;
pub use record::{Record, Waker};
pub use recording::{new_recording, new_recording_in};
pub use selection::Selection;
pub use session::{Pace, Session};
pub use watch::{Asking, Watched};

/// Who is asked about datasets: the engine, which opens them.
pub fn datasets() -> Datasets {
    Datasets(engine::CATALOG)
}

/// The samples of the dataset that the options name. Only its length is looked at.
///
/// # Errors
/// If the dataset cannot be opened.
pub fn samples_of_dataset(options: &RunOptions) -> Result<Samples, SessionError> {
    Ok(loadscope_plan::order::samples_of_dataset(
        options,
        engine::CATALOG,
    )?)
}

/// Checks options without running them.
///
/// # Errors
/// The sentence with which [`Session::start`] would refuse them, as far as that is known without opening the dataset.
pub fn check(options: &RunOptions) -> Result<(), SessionError> {
    Ok(loadscope_plan::plan::check_options(options)?)
}

#[cfg(test)]
#[cfg(feature = "engine")]
mod tests;

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
