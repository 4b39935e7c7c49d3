//! Reading whatever can be read.

use std::path::Path;

use loadscope_trace::{Event, LogReader, read_log};

use crate::sink::{Outcome, Sink};
use crate::{ImportError, Kind, lotus, profiler, spdl};

/// Looks whether `path` can be opened, without reading it to its end.
///
/// # Errors
/// If it cannot be read, or is nothing that can be opened.
pub fn check(path: &Path) -> Result<Kind, ImportError> {
    let kind = Kind::of(path)?;
    match kind {
        Kind::Log => _ = LogReader::open(path)?,
        Kind::Spdl => spdl::check(path)?,
        Kind::Profiler | Kind::Lotus => {}
    }
    Ok(kind)
}

/// Bytes to be read of a file, or of a folder, for showing how far reading is.
pub fn size(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => lotus::size(path),
        Ok(m) => m.len(),
        Err(_) => 0,
    }
}

/// Reads what is at `path` and hands its events over in order of time, each with the number of bytes that were read. `each`
/// returns false to stop early; where much is read before the first event, it is called with none.
///
/// # Errors
/// If it cannot be opened, is nothing that can be, or is damaged.
pub fn read(
    path: &Path,
    mut each: impl FnMut(Option<Event>, u64) -> bool,
) -> Result<Outcome, ImportError> {
    match Kind::of(path)? {
        Kind::Log => {
            let outcome = read_log(path, |event, bytes| each(Some(event), bytes))?;
            Ok(Outcome {
                cut: outcome.cut,
                late: outcome.late,
            })
        }
        Kind::Profiler => profiler::read(path, &mut Sink::new(&mut each)),
        Kind::Lotus => lotus::read(path, &mut Sink::new(&mut each)),
        Kind::Spdl => spdl::read(path, &mut Sink::new(&mut each)),
    }
}
