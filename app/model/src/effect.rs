//! What has to be done outside the state: what needs the engine, a file, a dialog or the clipboard.

use std::path::PathBuf;

use loadscope_insight::diagnose::Check;
use loadscope_words::Language;

use crate::picture::Picture;
use crate::watching::ProgramToWatch;

/// What has to be done outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start the engine with the options.
    Start,
    /// The same, held before anything happens.
    StartPaused,
    /// The same at a tenth of its speed.
    StartSlowly,
    /// Set the options of the digits demo and start the engine with it.
    Demo,
    /// Start the simulator with the options.
    Simulate,
    /// Stop what is under way.
    Stop,
    /// Close the gate.
    Pause,
    /// Open the gate.
    Resume,
    /// Let one transition through.
    Step,
    /// Put the run aside, and show the welcome screen.
    Close,
    /// Show the run with this number again.
    ShowRun(u32),
    /// Compare the run that is shown with the one with this number.
    CompareRun(u32),
    /// Drop the run with this number for good.
    DropRun(u32),
    /// Read this file.
    Open(PathBuf),
    /// Write the recording there, unless there is a file that may not be replaced.
    Save {
        /// Where.
        path: PathBuf,
        /// An existing file may be replaced.
        replace: bool,
    },
    /// Remove a run from the journal.
    RemoveLeftOver(PathBuf),
    /// Run what was forecast.
    Check(Box<Check>),
    /// Run the program that is watched with other arguments.
    TryProgram,
    /// End that.
    EndTries,
    /// Read this file, to compare the run with it.
    Compare(PathBuf),
    /// Start this program and watch it.
    Watch(Box<ProgramToWatch>),
    /// Ask for the file of a program.
    AskScript,
    /// Ask for a file to open.
    AskOpen,
    /// Ask for a file to compare with.
    AskCompare,
    /// Ask for a file to save to.
    AskSave,
    /// Ask for a folder of pictures.
    AskFolder,
    /// Ask where the data of a dataset are.
    AskData {
        /// The word that the text of the dataset begins with.
        word: &'static str,
        /// Whether a folder is asked for, or a file.
        is_folder: bool,
    },
    /// Ask for a folder of logs.
    AskOpenFolder,
    /// Ask for a file to export to.
    AskExport,
    /// Write the run there for other tools, unless there is a file that may not be replaced.
    Export {
        /// Where.
        path: PathBuf,
        /// Existing files may be replaced.
        replace: bool,
    },
    /// Break the export off.
    CancelExport,
    /// Ask where to save this picture.
    AskPicture(Picture),
    /// Put this on the clipboard.
    Copy(String),
    /// From dark to light or back.
    ToggleTheme,
    /// Speak this language.
    Speak(Language),
    /// Close the window.
    Quit,
}
