//! Runs of the watched program with other arguments of `DataLoader`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_insight::tune::{Row, Table};

/// State of the runs with other arguments.
#[derive(Clone, Debug, Default)]
pub struct TuneRuns {
    /// Folder of the recordings.
    pub folder: PathBuf,
    /// Progress lines: one at the start and one at the end of each run, latest last.
    pub lines: Vec<String>,
    /// Result, after all runs have ended.
    pub outcome: Option<Outcome>,
}

/// Result of the runs.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Comparison of the runs.
    Compared(Arc<Table>),
    /// The user ended the runs before the first one finished.
    Ended,
    /// There is nothing to compare. Contains the reason.
    Failed(String),
}

/// Progress of the runs.
#[derive(Clone, Debug)]
pub enum TuneUpdate {
    /// Start of the runs, with the folder of the recordings.
    Begun(PathBuf),
    /// Another progress line.
    Line(String),
    /// End of all runs.
    Over(Outcome),
}

impl TuneRuns {
    /// Returns the setting of a recording.
    pub fn setting(&self, recording: &Path) -> Option<String> {
        let Some(Outcome::Compared(table)) = &self.outcome else {
            return None;
        };
        let is_it = |row: &&Row| self.folder.join(&row.tried.recording) == recording;
        table.rows.iter().find(is_it).map(Row::name)
    }

    /// Returns the latest progress line while the runs continue.
    pub fn under_way(&self) -> Option<&str> {
        let line = self.lines.last().map_or("", |line| line.trim());
        self.is_running().then_some(line)
    }

    /// Returns true while the runs continue.
    pub fn is_running(&self) -> bool {
        self.outcome.is_none()
    }
}
