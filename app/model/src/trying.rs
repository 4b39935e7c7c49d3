//! Other arguments of `DataLoader`, tried on the program that the window watches.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_insight::tune::{Row, Table};

/// What has been tried, and how far it is.
#[derive(Clone, Debug, Default)]
pub struct Trying {
    /// Where the recordings of the runs go.
    pub folder: PathBuf,
    /// What there is to say so far: a line when a run begins and one when it ends, the latest last.
    pub lines: Vec<String>,
    /// What came of it, once all runs have ended.
    pub outcome: Option<Outcome>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The runs beside each other.
    Compared(Arc<Table>),
    /// The user ended it before the first run had ended.
    Ended,
    /// There is nothing to compare: why, a sentence.
    Failed(String),
}

/// What is new of it.
#[derive(Clone, Debug)]
pub enum News {
    /// It begins; the recordings go into this folder.
    Begun(PathBuf),
    /// A line more.
    Line(String),
    /// All runs have ended.
    Over(Outcome),
}

impl Trying {
    /// The setting whose recording this is.
    pub fn setting(&self, recording: &Path) -> Option<String> {
        let Some(Outcome::Compared(table)) = &self.outcome else {
            return None;
        };
        let is_it = |row: &&Row| self.folder.join(&row.tried.recording) == recording;
        table.rows.iter().find(is_it).map(Row::name)
    }

    /// The latest line, while the program runs again and again.
    pub fn under_way(&self) -> Option<&str> {
        let line = self.lines.last().map_or("", |line| line.trim());
        self.is_running().then_some(line)
    }

    /// True while the program runs again and again.
    pub fn is_running(&self) -> bool {
        self.outcome.is_none()
    }
}
