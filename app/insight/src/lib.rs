//! Analysis of runs: jump targets, findings, sample order, causes of waits, forecasts, and reports.
//!
//! The crate does not draw, open files or need libtorch. Its input is a [`loadscope_trace::Run`], its output numbers and sentences.
//!
//! ```
//! use loadscope_insight::{Datasets, report::{Report, text}};
//! use loadscope_trace::{Run, RunOptions};
//!
//! let options = RunOptions { dataset: "synthetic:len=64,cost_ms=20".to_owned(), num_workers: 2, step_ms: 5.0, ..RunOptions::default() };
//! let mut run = Run::default();
//! for event in loadscope_plan::simulate::simulate(&options, Datasets::default().0).expect("valid options") {
//!     run.apply(&event);
//! }
//! let report = Report::of(&run, false, Datasets::default());
//! assert!(text(&report).contains("num_workers"));
//! ```

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

pub mod background;
pub mod code;
pub mod content;
mod dataset;
pub mod diagnose;
pub mod format;
pub mod glossary;
pub mod headline;
pub mod idle;
pub mod landmarks;
pub mod loaders;
pub mod narrate;
pub mod options;
pub mod palette;
pub mod past_sums;
pub mod platform;
pub mod report;
pub mod sampling;
pub mod search;
pub mod session_event;
pub mod tune;
pub mod variables;
pub mod waits;

pub use dataset::Datasets;
pub use dataset::dataset;

/// Doctest of the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Simulates a run with these options.
#[cfg(test)]
fn simulated(options: &loadscope_trace::RunOptions) -> loadscope_trace::Run {
    let mut run = loadscope_trace::Run::default();
    let events = loadscope_plan::simulate::simulate(options, Datasets::default().0);
    for event in events.expect("sound options") {
        run.apply(&event);
    }
    run
}
