//! What a run in the journal is, as far as its first events tell.

use std::fs::File;
use std::path::Path;

use loadscope_trace::{EventKind, LogError, LogReader, RunInfo};
use loadscope_words::say;

/// So many events are looked at for the first that names the dataset.
pub(super) const LOOK: usize = 64;

/// What is found out about a run from its first events.
pub(super) enum Beginning {
    /// There is no event, and none was being written: nothing is lost with it.
    Nothing,
    /// What was recorded.
    Run(Box<RunInfo>),
    /// There is something, and this is what can be said of it.
    Unknown(&'static str),
}

impl Beginning {
    pub fn of(path: &Path, file: File) -> Self {
        // A disk that was full from the beginning, or a system that stopped, leaves not even the header.
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
        for event in events.by_ref().take(LOOK) {
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
            // Lines that this version does not know count as well.
            (None, None) if events.lines() <= 1 && !events.was_cut() => Ok(Self::Nothing),
            (None, None) => Ok(Self::Unknown(say!("A run of an unknown dataset"))),
        }
    }
}

/// The run that an event introduces: where parts were dropped, what is kept of them begins with it.
fn introduced(kind: EventKind) -> Option<Box<RunInfo>> {
    match kind {
        EventKind::RunStarted(info) => Some(info),
        EventKind::Retention(retention) => Some(Box::new(retention.info)),
        _ => None,
    }
}
