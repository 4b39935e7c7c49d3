//! Events of a recording, in order.

use std::path::Path;

use loadscope_exchange::{ImportError, Kind, read};
use loadscope_live::folder;
use loadscope_trace::{Event, LogError, LogReader, RecordingKind};

/// Returns true for a folder of event streams that a program wrote without a listener.
pub(super) fn is_program(path: &Path) -> bool {
    path.is_dir() && !folder::streams(path).is_empty()
}

/// Returns the header for a copy of the recording. Read errors are ignored here, because the reader reports them.
pub(super) fn heading_of(path: &Path) -> RecordingKind<'static> {
    let is_log = !is_program(path) && Kind::of(path).is_ok_and(|kind| kind == Kind::Log);
    let log = is_log.then(|| LogReader::open(path).ok()).flatten();
    log.map_or(RecordingKind::Plain, |log| log.recording_kind())
}

/// Calls `each` with the events of a recording in order of time, until it returns false. Returns true if the recording is truncated.
///
/// # Errors
/// If the recording cannot be opened or is damaged.
pub(super) fn each_event(
    path: &Path,
    mut each: impl FnMut(&Event) -> bool,
) -> Result<bool, ImportError> {
    if is_program(path) {
        return Ok(each_of_streams(path, |event| each(&event))?);
    }
    let outcome = read(path, |event, _| event.is_none_or(|event| each(&event)))?;
    Ok(outcome.cut)
}

/// Calls `each` with the events of a folder of streams, until it returns false. Returns true if a stream is truncated.
pub(super) fn each_of_streams(
    path: &Path,
    each: impl FnMut(Event) -> bool,
) -> Result<bool, LogError> {
    folder::read(path, each).map_err(|cause| LogError::Open {
        path: path.to_owned(),
        cause,
    })
}
