//! Import of all supported inputs.

use std::path::Path;

use loadscope_trace::{Event, LogReader, read_log};

use crate::input::{Outcome, Sink};
use crate::{ImportError, Kind, lotus, profiler, spdl};

/// Returns the kind of the input at `path` if it can be opened. Does not read the whole input.
///
/// # Errors
/// If the input cannot be read, or its format is not supported.
pub fn check(path: &Path) -> Result<Kind, ImportError> {
    let kind = Kind::of(path)?;
    match kind {
        Kind::Log => _ = LogReader::open(path)?,
        Kind::Spdl => spdl::check(path)?,
        Kind::Profiler | Kind::Lotus => {}
    }
    Ok(kind)
}

/// Returns the size of a file, or of the logs in a folder, for showing the progress of reading. Bytes.
pub fn size(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(m) if m.is_dir() => lotus::size(path),
        Ok(m) => m.len(),
        Err(_) => 0,
    }
}

/// Reads the input at `path`, and passes its events to `each` in order of time, with the number of bytes read.
///
/// `each` returns false to stop early. While much is read before the first event, `each` is called without an event.
///
/// # Errors
/// If the input cannot be opened, its format is not supported, or it is damaged.
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
