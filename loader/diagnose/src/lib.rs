//! Diagnosis of a run: the causes of its waits, findings with remedies, a verdict, and the ranks that others wait for.
//!
//! Everything is computed from the queries of a [`Run`](loadscope_trace::Run). This crate reads no file and starts no thread.

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

pub mod align;
mod blame;
mod findings;
mod hot_code;
mod straggler;

pub use blame::{Blame, BlamedInterval, Cause, FetchBlame, SampleBlame};
pub use findings::{
    Change, Diagnosis, Effect, Evidence, Finding, FindingId, Forecast, ForecastSet, LineForecast,
    LongestWait, Severity, Survey, Verdict, VerdictId, WaitSummary, is_likely_less,
};
pub use hot_code::{HotCode, SampleShare, SlowLine, callee, slow_line};
pub use straggler::{STRAGGLER_SHARE, Straggler, straggler};

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
