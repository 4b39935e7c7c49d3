//! Messages: user requests, arriving data and the passing of time.

use std::path::PathBuf;
use std::time::Duration;

use loadscope_insight::diagnose::{Check, ComparedRun};
use loadscope_insight::options::Problem;
use loadscope_insight::session_event::UnsavedRun;
use loadscope_insight::session_event::{Notice, SessionEvent};
use loadscope_trace::Nanos;

use crate::command::{Action, Command};
use crate::prefs::{Splits, WindowPlace};
use crate::results::BackgroundResults;
use crate::state::Source;
use crate::state::learn::Prepared;
use crate::view::TimeView;
use crate::watching::Program;
use crate::watching::TuneUpdate;

/// A change to the state.
#[derive(Clone, Debug)]
pub enum Message {
    /// Request of the user.
    Command(Command),
    /// Event of the session.
    Session(SessionEvent),
    /// Start of a session. The previous run was set aside.
    Begun {
        /// Source of its events.
        source: Source,
        /// True if the session watches a program.
        watched: bool,
    },
    /// Program of the session, which was started from this window and can be started again.
    Watches(Program),
    /// End of the session. Its run was set aside.
    Closed,
    /// The run with this number is shown again. The previous one was set aside.
    Shown(u32),
    /// Event of the session of a run that is not shown.
    SessionFor(u32, SessionEvent),
    /// The run with this number, which is not shown, was dropped.
    Dropped(u32),
    /// The contents of this hidden run were removed, because memory was short.
    Emptied(u32),
    /// Start of a frame.
    Frame {
        /// Time since the last frame.
        elapsed: Nanos,
        /// Time budget for searching in this frame.
        search: Duration,
    },
    /// Drawing of the window is about to start.
    Drawing,
    /// The window was drawn.
    Drawn {
        /// Duration of the drawing, ms.
        ms: f32,
    },
    /// True if data flow and the user has not touched the window for a while. False at the next input.
    Unattended(bool),
    /// View while the user moves through time with a held key.
    Driven(TimeView),
    /// End of an edit to the options. The next edit is a separate change.
    EditEnded,
    /// Problems found in the options.
    Checked(Vec<Problem>),
    /// Notice for the user.
    Notice(Notice),
    /// Error of a file that was to be opened or compared.
    NotOpened(String),
    /// Error of a program that was to be watched.
    NotWatched(String),
    /// File that is examined before it is opened. `None` if there is none.
    CheckingFile(Option<PathBuf>),
    /// Start of reading another recording for a comparison.
    Comparing,
    /// Recording for the comparison, read completely.
    Compared(ComparedRun),
    /// Start of the run with the forecast setting.
    Checking {
        /// Expected result.
        check: Box<Check>,
        /// Previous run.
        before: ComparedRun,
    },
    /// New results of background calculations.
    Results(Box<BackgroundResults>),
    /// Prepared data for a lesson.
    Prepared(Prepared),
    /// Progress of the runs with other arguments.
    Tune(TuneUpdate),
    /// Start of writing the recording to this file.
    Saving(PathBuf),
    /// Start of exporting the run to this file.
    Exporting(PathBuf),
    /// Recent recordings, latest first.
    Recent(Vec<PathBuf>),
    /// Unsaved runs of earlier windows. The flag is true if the start page shows them.
    UnsavedRuns(Vec<UnsavedRun>, bool),
    /// Unsaved run that was saved elsewhere.
    UnsavedRunSaved(PathBuf),
    /// Sizes of the panels after the user dragged an edge.
    Splits(Splits),
    /// Position of the window on the screen.
    Window(Option<WindowPlace>),
    /// True if the system asks for no animation.
    ReducedMotion(bool),
}

impl From<Command> for Message {
    fn from(command: Command) -> Self {
        Self::Command(command)
    }
}

impl From<Action> for Message {
    fn from(action: Action) -> Self {
        Self::Command(action.into())
    }
}

impl From<SessionEvent> for Message {
    fn from(event: SessionEvent) -> Self {
        Self::Session(event)
    }
}
