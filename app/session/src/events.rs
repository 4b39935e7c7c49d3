//! The events of what was recorded, one after the other.

use std::path::Path;

use loadscope_exchange::{ImportError, Kind, read};
use loadscope_live::folder;
use loadscope_trace::{Event, Heading, LogError, LogReader};

/// True for the folder into which the processes of a program wrote, because there was no listener.
pub(super) fn is_program(path: &Path) -> bool {
    path.is_dir() && !folder::streams(path).is_empty()
}

/// What the first line of a copy of it has to say. What cannot be read is another one's to report.
pub(super) fn heading_of(path: &Path) -> Heading<'static> {
    let is_log = !is_program(path) && Kind::of(path).is_ok_and(|kind| kind == Kind::Log);
    let log = is_log.then(|| LogReader::open(path).ok()).flatten();
    log.map_or(Heading::Plain, |log| log.heading())
}

/// Hands the events of a recording over in order of time until `each` returns false. True if it ends in the middle.
///
/// # Errors
/// If it is nothing that can be opened or is damaged.
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

/// Hands the events of a folder of streams over until `each` returns false. True if one of them was cut off.
pub(super) fn each_of_streams(
    path: &Path,
    each: impl FnMut(Event) -> bool,
) -> Result<bool, LogError> {
    folder::read(path, each).map_err(|cause| LogError::Open {
        path: path.to_owned(),
        cause,
    })
}
