//! Description of a run in the journal, from its first events.

use std::fs::File;
use std::path::Path;

use loadscope_trace::{EventKind, LogError, LogReader, RunInfo};
use loadscope_words::say;

/// Maximum number of events to search for the dataset.
pub(super) const MAX_EVENTS: usize = 64;

/// Description from the first events.
pub(super) enum RunDescription {
    /// There are no events, and no line was truncated. Removing the file loses nothing.
    Nothing,
    /// The description of the run.
    Run(Box<RunInfo>),
    /// There are events. The text describes the run.
    Unknown(&'static str),
}

impl RunDescription {
    pub fn of(path: &Path, file: File) -> Self {
        // A full disk or a system crash can leave a file without a header.
        if file.metadata().is_ok_and(|found| found.len() == 0) {
            return Self::Nothing;
        }
        match Self::read(path, file) {
            Ok(found) => found,
            Err(LogError::Version { .. }) => {
                Self::Unknown(say!("A run of a newer Loadscope version"))
            }
            Err(_) => Self::Unknown(say!("A damaged run")),
        }
    }

    fn read(path: &Path, file: File) -> Result<Self, LogError> {
        let mut events = LogReader::new(file)?;
        if events.parts().is_some() {
            events = LogReader::open(path)?;
        }
        let mut run = None;
        let mut damage = None;
        for event in events.by_ref().take(MAX_EVENTS) {
            match event.map(|event| introduced(event.kind)) {
                Ok(Some(info)) => run = Some(info),
                Ok(None) if run.is_some() => break,
                Ok(None) => {}
                Err(error) => damage = Some(error),
            }
        }
        match (run, damage) {
            (Some(run), _) => Ok(Self::Run(run)),
            (None, Some(error)) => Err(error),
            // Lines of an unknown version count as content.
            (None, None) if events.lines() <= 1 && !events.is_truncated() => Ok(Self::Nothing),
            (None, None) => Ok(Self::Unknown(say!("A run of an unknown dataset"))),
        }
    }
}

/// Returns the run of an introduction. If parts were dropped, the recording starts with its retention event.
fn introduced(kind: EventKind) -> Option<Box<RunInfo>> {
    match kind {
        EventKind::RunStarted(info) => Some(info),
        EventKind::Retention(retention) => Some(Box::new(retention.info)),
        _ => None,
    }
}
