//! What other tools write and read.
//!
//! [`read`] makes events of what it is given, whatever that is: a Loadscope recording, a trace of `torch.profiler`, a folder of
//! LotusTrace, SPDL's statistics. It goes by the content, never by a name. What a source did not measure stays "not measured".
//! [`export()`] writes a run as a trace for Perfetto or as tables, as documented in `TABLES.md`.
//!
//! No thread, no window, no engine. A file is data from a stranger: memory is bounded, and what is damaged gets a sentence.

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

mod error;
mod export;
mod import;
mod json;
mod kind;
mod lotus;
mod open;
mod profiler;
mod recognize;
mod sink;
mod spdl;

pub use error::{ExportError, ImportError};
pub use export::{Format, export, export_named, files};
pub use import::{check, read, size};
pub use kind::Kind;
pub use sink::Outcome;

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
