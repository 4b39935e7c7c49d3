//! Everything that changes the state: what a user asks for, what arrives, and the passing of time.

use std::path::PathBuf;
use std::time::Duration;

use loadscope_insight::diagnose::{Check, Other};
use loadscope_insight::options::Problem;
use loadscope_insight::session_event::{Notice, SessionEvent};
use loadscope_insight::unsaved::LeftOver;
use loadscope_trace::Nanos;

use crate::answers::Answers;
use crate::command::{Action, Command};
use crate::prefs::{Splits, WindowPlace};
use crate::state::Source;
use crate::state::learn::Prepared;
use crate::trying::News;
use crate::view::TimeView;
use crate::watching::Program;

/// Something that changes the state.
#[derive(Clone, Debug)]
pub enum Message {
    /// A user asked for it.
    Command(Command),
    /// It came from the session.
    Session(SessionEvent),
    /// A session has begun; the run before was put aside.
    Begun {
        /// Where its events come from.
        source: Source,
        /// It is a program that is watched.
        watched: bool,
    },
    /// The program that the session watches was started from here: it can be started again.
    Watches(Program),
    /// The session was closed; its run was put aside.
    Closed,
    /// The run with this number is shown again; the one before was put aside.
    Shown(u32),
    /// It came from the session of a run that is not shown.
    SessionFor(u32, SessionEvent),
    /// The run with this number, which is not shown, is no longer kept.
    Dropped(u32),
    /// There was no room for the contents of this run, which is not shown.
    Emptied(u32),
    /// A time of the window begins: so much time has passed since the last one, and so long may be spent on searching.
    Frame {
        /// Since the last frame.
        elapsed: Nanos,
        /// For searching.
        search: Duration,
    },
    /// The window is about to be drawn.
    Drawing,
    /// The window was drawn.
    Drawn {
        /// How long that took, ms.
        ms: f32,
    },
    /// Data flow, and the user has left the window alone for a while, or touches it again.
    Unattended(bool),
    /// The user drives through time with a key that is held.
    Driven(TimeView),
    /// The hand has let go of what it changed in the options: the next change is one of its own.
    LetGo,
    /// The options were checked; what is wrong with them.
    Checked(Vec<Problem>),
    /// The user should know.
    Notice(Notice),
    /// What was to be opened or compared with could not be read, and why.
    NotOpened(String),
    /// The program that was to be watched could not be started, and why.
    NotWatched(String),
    /// This is looked at before it is opened, or nothing any more.
    Looking(Option<PathBuf>),
    /// Another recording is being read, to compare the run with.
    Comparing,
    /// It was read.
    Compared(Other),
    /// What was forecast is run.
    Checking {
        /// What is expected.
        check: Box<Check>,
        /// The run before.
        before: Other,
    },
    /// Long calculations have said something new.
    Answered(Box<Answers>),
    /// What a lesson needs was worked out.
    Prepared(Prepared),
    /// The program that is watched is run with other arguments.
    Trying(News),
    /// The recording is being written.
    Saving(PathBuf),
    /// The run is being exported.
    Exporting(PathBuf),
    /// Recordings that were named, latest first.
    Recent(Vec<PathBuf>),
    /// Runs that were not saved before their window ended, and whether the start page shows them.
    LeftOver(Vec<LeftOver>, bool),
    /// One of them was saved somewhere else.
    NotLeftOver(PathBuf),
    /// The user dragged the edge of a panel.
    Splits(Splits),
    /// Where the window stands on the screen.
    Window(Option<WindowPlace>),
    /// The system asks for no animation, or no longer.
    SystemStill(bool),
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
