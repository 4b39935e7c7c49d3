//! The log: JSON Lines, plain or compressed with zstd. A header, then one event a line, in order of time.
//!
//! The format is described in `loader/trace/FORMAT.md`.

mod chain;
mod checksums;
mod counted;
#[cfg_attr(target_family = "wasm", path = "log/frames_portable.rs")]
mod frames;
// Held against the C library by its tests.
#[cfg(all(test, not(target_family = "wasm")))]
mod frames_portable;
mod header;
mod line;
mod lines;
mod merge;
pub mod parted;
mod quick;
mod read;
// Who repairs a recording has it as a file.
#[cfg(not(target_family = "wasm"))]
mod repair;
#[cfg_attr(target_family = "wasm", path = "log/unpack_portable.rs")]
mod unpack;
#[cfg(all(test, not(target_family = "wasm")))]
mod unpack_portable;
mod usual;
mod wire;
mod write;

pub use header::{FORMAT_VERSION, Heading};
pub use lines::{Lines, Parsed};
pub use merge::Merge;
pub use read::{LogReader, ReadOutcome, read_log};
#[cfg(not(target_family = "wasm"))]
pub use repair::{Damage, Gap, KeptLine, repair};
pub use write::{Compression, LogWriter, line_of};

use crate::Nanos;

/// The first bytes of a zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// How far events of different processes may be out of order in a file.
const SORT_WINDOW: Nanos = Nanos(1_000_000_000);

/// Length of the lines whose events are held back at most. A file in which no time passes must not exhaust the memory.
const MAX_HELD: usize = 32 << 20;

/// A line longer than this is not read: no event is, and a damaged file must not exhaust the memory.
const MAX_LINE: usize = 64 << 20;

/// A header is short; the first line of a foreign file need not be.
const MAX_HEADER: usize = 64 << 10;
