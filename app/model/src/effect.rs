//! Effects outside the state (on the engine, a file, a dialog or the clipboard), and the question before one.

use std::path::PathBuf;

use loadscope_insight::code::Place;
use loadscope_insight::diagnose::Check;
use loadscope_trace::{FieldData, Run};
use loadscope_words::Language;

use crate::watching::ProgramToWatch;

pub use loadscope_insight::session_event::Output;

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
    /// Open this line in the editor of the user.
    OpenEditor(Place),
    /// Switch between dark and light.
    ToggleTheme,
    /// Use this language.
    SetLanguage(Language),
    /// Close the window.
    Quit,
}

/// Effect that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Requested effect.
    pub then: Effect,
    /// True while the run is being saved. The requested effect follows.
    pub saving: bool,
}

/// Answer about the unsaved runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Save the run that is shown first.
    Save,
    /// Keep them in the journal, which offers them at the next start.
    Keep,
    /// Discard them.
    Discard,
    /// Cancel the request.
    Cancel,
}

/// Image to save, with the recorded pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Name built from the batch and the sample.
    pub name: String,
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Number of channels: 1 for gray, 3 for RGB.
    pub channels: u8,
    /// Pixels by row, `width * height * channels` values.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Returns the image at position `k` of a field of a batch.
    pub fn of(run: &Run, row: usize, field: usize, k: usize) -> Option<Self> {
        let field = run.content(row)?.fields.get(field)?;
        let FieldData::Pictures(pictures) = &field.data else {
            return None;
        };
        let sample = match run.indices_inside(row).get(k) {
            Some(index) => format!("sample-{index}"),
            None => format!("picture-{k}"),
        };
        let batch = run.batches().get(row)?.id;
        Some(Self {
            name: format!("epoch-{}-batch-{}-{sample}", batch.epoch, batch.idx),
            width: pictures.width,
            height: pictures.height,
            channels: pictures.channels,
            pixels: pictures.get(k)?.to_vec(),
        })
    }

    /// Returns the file name.
    pub fn file_name(&self) -> String {
        format!("{}.png", self.name)
    }
}
