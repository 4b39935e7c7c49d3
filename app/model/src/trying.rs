//! Other arguments of `DataLoader`, tried on the program that the window watches.

use std::path::PathBuf;
use std::sync::Arc;

use loadscope_insight::tune::Table;

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
    /// True while the program runs again and again.
    pub fn is_running(&self) -> bool {
        self.outcome.is_none()
    }
}
