//! Sources of events: the embedded engine, the simulator, recordings and watched programs.
//! In the program, only this crate imports the engine and the formats of other tools.
//!
//! Every source sends [`SessionEvent`]s on one channel. A separate thread sorts the events and writes the log,
//! so neither the loader nor the window waits for a disk.

#![forbid(unsafe_code)]

use loadscope_insight::Datasets;
use loadscope_plan::order::Samples;
use loadscope_trace::RunOptions;

loadscope_words::catalogs!();

#[cfg(feature = "engine")]
mod engine;
#[cfg(not(feature = "engine"))]
#[path = "no_engine.rs"]
mod engine;
mod error;
mod event_sink;
mod event_source;
mod export;
mod file;
mod folder;
mod journal;
mod limited;
mod memory;
mod memory_bound;
mod open;
mod opener;
mod reading;
mod recording;
mod selection;
mod session;
mod simulator;
pub mod tune;
mod watch;

pub use engine::HAS_ENGINE;
pub use error::SessionError;
pub use event_sink::{Record, Waker};
pub use export::{ExportFormat, Packed, export_runs, packed, refuse_export_onto};
pub use file::{check_path, describe_open_error};
pub use journal::{Entry, Journal, NewEntry, UnsavedRun};
pub use limited::{Limited, Limits, NewLimited};
pub use loadscope_insight::session_event::{Notice, SessionEvent};
pub use loadscope_live::{
    Address, Attach, AttachError, Effects, End, Output, PROBE, ProgramError, Remote, Request, SSH,
    Stop, at_exit, catch_signals, catch_termination_signals, exit_by_signal, exit_immediately,
    restore_signals, termination_signals,
};
pub use memory_bound::{History, memory_of_host};
pub use open::{Opened, open, read_run};
pub use opener::PartialRun;
pub use recording::{new_recording, new_recording_in};
pub use selection::Selection;
pub use session::{Pace, Session};
pub use watch::{EndRequest, StackSampling, Watched};

/// Returns the catalog of datasets. The engine opens them to learn their facts.
pub fn datasets() -> Datasets {
    Datasets(engine::CATALOG)
}

/// Returns the samples of the dataset in the options. Only its length is read.
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
/// The error of [`Session::start`], as far as it is known without opening the dataset.
pub fn check(options: &RunOptions) -> Result<(), SessionError> {
    Ok(loadscope_plan::plan::check_options(options)?)
}

/// Doctest of the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
