//! Recordings: JSON Lines, plain or compressed with zstd. A header is followed by one event per line, in order of time.
//!
//! `loader/trace/FORMAT.md` defines the format.

mod checksums;
mod counting_reader;
#[cfg_attr(target_family = "wasm", path = "log/frames_portable.rs")]
mod frames;
mod parts_reader;
// The tests compare the fast parser with the serde parser.
mod fast_parser;
#[cfg(all(test, not(target_family = "wasm")))]
mod frames_portable;
mod header;
mod line;
mod lines;
mod merge;
pub mod multipart;
mod read;
// A browser has no C library, so it uses the portable version.
#[cfg_attr(target_family = "wasm", path = "log/decompress_portable.rs")]
mod decompress;
#[cfg(all(test, not(target_family = "wasm")))]
mod decompress_portable;
mod fast_writer;
#[cfg(not(target_family = "wasm"))]
mod repair;
mod wire;
mod write;

pub use header::FORMAT_VERSION;
pub use lines::{Lines, Parsed};
pub use merge::Merge;
pub use read::{LogReader, ReadOutcome, read_log};
#[cfg(not(target_family = "wasm"))]
pub use repair::{Damage, Gap, KeptLine, repair};
pub use write::{Compression, LogWriter, format_event};

use crate::Nanos;

/// Magic number of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Largest delay of an event relative to later events in a file, because several processes write it.
const SORT_WINDOW: Nanos = Nanos(1_000_000_000);

/// Maximum length of the lines whose events are held back for sorting, bytes. Without this limit, a file without advancing times would
/// exhaust the memory.
const MAX_HELD: usize = 32 << 20;

/// Maximum length of a line, bytes. Real events are shorter, and a damaged file must not exhaust the memory.
const MAX_LINE: usize = 64 << 20;

/// Maximum length of a header, bytes. The first line of an unrelated file can be longer.
const MAX_HEADER: usize = 64 << 10;
