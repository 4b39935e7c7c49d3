//! Imports from other tools, and exports for them.
//!
//! [`read`] converts its input to events: a Loadscope recording, a trace of `torch.profiler`, a folder of LotusTrace logs, SPDL's
//! statistics. It recognizes the input by its content, not by its name. Values that a source did not measure stay "not measured".
//! [`export()`] writes a run as a trace for Perfetto, as tables, or as sampled stacks, as documented in `TABLES.md`.
//!
//! The crate uses no threads, no window and no engine. Files are untrusted: memory is bounded, and damage is reported in an error message.

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

mod error;
mod export;
mod import;
mod input;
mod json;
mod lotus;
mod profiler;
mod recognize;
mod spdl;

pub use error::{ExportError, ImportError, Kind};
pub use export::{Format, export, export_named, files};
pub use import::{check, read, size};
pub use input::Outcome;

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
