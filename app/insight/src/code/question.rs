//! Question about the code of a run, and the choices of the user that it follows from.

use loadscope_trace::{Activity, Nanos, Stage, WorkerId, place};
use loadscope_words::say;

/// Part of a run whose code is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// The whole run.
    #[default]
    Run,
    /// A range of time, in all processes.
    Range(Nanos, Nanos),
    /// A worker, `None` for the main process.
    Process(Option<WorkerId>),
    /// A batch, by its position in the run.
    Batch(usize),
    /// A sample: the position of its batch, and its position within the batch.
    Sample(usize, usize),
}

/// Work whose code is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Fetching of samples.
    Fetching,
    /// Collating.
    Collating,
    /// Training steps.
    Training,
    /// All samples, also those outside of batches.
    All,
}

impl Work {
    /// All kinds of work, in order of display.
    pub const ALL: [Self; 4] = [Self::Fetching, Self::Collating, Self::Training, Self::All];

    /// Returns the activity of batches. `None` for all work.
    pub fn activity(self) -> Option<Activity> {
        match self {
            Self::Fetching => Some(Activity::Fetching),
            Self::Collating => Some(Activity::Collating),
            Self::Training => Some(Activity::Training),
            Self::All => None,
        }
    }

    /// Returns the name.
    pub fn label(self) -> &'static str {
        self.activity().map_or(say!("All code"), Activity::label)
    }

    /// Returns true if batches in this stage are worked on.
    pub(super) fn has(self, stage: Stage) -> bool {
        match stage {
            Stage::Fetching => matches!(self, Self::Fetching | Self::All),
            Stage::Collating => matches!(self, Self::Collating | Self::All),
            Stage::Training => matches!(self, Self::Training | Self::All),
            _ => false,
        }
    }
}

/// Question about the code of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// Part of the run.
    pub subject: Subject,
    /// Work, `None` for the first with samples.
    pub work: Option<Work>,
    /// True for a flame graph in order of time.
    pub over_time: bool,
}

/// Line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// Path of the file.
    pub file: String,
    /// Line number. 0 if it is unknown.
    pub line: u32,
}

impl Place {
    /// Returns the name of the file without its folders, and the line: `dataset.py:42`.
    pub fn short(&self) -> String {
        place(&self.file, self.line)
    }
}

/// Choices of the user in the code panel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeChoice {
    /// Work, `None` for the first with samples.
    pub work: Option<Work>,
    /// True for a flame graph in order of time.
    pub over_time: bool,
    /// Sample of the selected batch, by its position. `None` for the whole batch.
    pub sample: Option<usize>,
    /// Line in the source. `None` for the hottest.
    pub line: Option<Place>,
}

impl CodeChoice {
    /// Returns the choices that remain after another item is selected.
    #[must_use]
    pub fn for_another_item(&self) -> Self {
        Self {
            work: self.work,
            over_time: self.over_time,
            ..Self::default()
        }
    }
}
