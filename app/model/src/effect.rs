//! Effects outside the state: on the engine, a file, a dialog or the clipboard.

use std::path::PathBuf;

use loadscope_insight::diagnose::Check;
use loadscope_words::Language;

use crate::picture::Picture;
use crate::watching::ProgramToWatch;

/// Action to perform outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start the engine with the options.
    Start,
    /// Start the engine, paused before the first batch.
    StartPaused,
    /// Start the engine at a tenth of its speed.
    StartSlowly,
    /// Set the options of the digits demo and start the engine.
    Demo,
    /// Start the simulator with the options.
    Simulate,
    /// Stop the current run.
    Stop,
    /// Close the gate, which pauses the engine.
    Pause,
    /// Open the gate, which resumes the engine.
    Resume,
    /// Let one transition through the gate.
    Step,
    /// Set the run aside, and show the welcome screen.
    Close,
    /// Show the run with this number again.
    ShowRun(u32),
    /// Compare the shown run with the run with this number.
    CompareRun(u32),
    /// Drop the run with this number permanently.
    DropRun(u32),
    /// Open this file.
    Open(PathBuf),
    /// Write the recording to a file.
    Save {
        /// Destination of the recording.
        path: PathBuf,
        /// True if an existing file may be replaced.
        replace: bool,
    },
    /// Remove a run from the journal.
    RemoveUnsavedRun(PathBuf),
    /// Run the forecast setting.
    Check(Box<Check>),
    /// Run the watched program with other arguments.
    TryProgram,
    /// End the runs with other arguments.
    EndTries,
    /// Read this file to compare the run with it.
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
    /// Ask for a folder of images.
    AskFolder,
    /// Ask for the data of a dataset.
    AskData {
        /// First word of the dataset's text.
        word: &'static str,
        /// True for a folder, false for a file.
        is_folder: bool,
    },
    /// Ask for a folder of logs.
    AskOpenFolder,
    /// Ask for a file to export to.
    AskExport,
    /// Export the run to a file for other tools.
    Export {
        /// Destination of the export.
        path: PathBuf,
        /// True if existing files may be replaced.
        replace: bool,
    },
    /// Cancel the export.
    CancelExport,
    /// Ask for the destination of this image.
    AskPicture(Picture),
    /// Copy this text to the clipboard.
    Copy(String),
    /// Switch between dark and light.
    ToggleTheme,
    /// Use this language.
    SetLanguage(Language),
    /// Close the window.
    Quit,
}
