//! A path that is typed, where the system has no dialog to choose a file in.

use std::path::PathBuf;

/// What the path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFor {
    /// A recording to open.
    Open,
    /// A folder of recordings to open.
    OpenFolder,
    /// Where the recording is saved.
    Save,
    /// A recording to compare with.
    Compare,
    /// Where the run is exported to.
    Export,
    /// A folder of pictures.
    Folder,
}

/// A path that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedPath {
    /// What it is for.
    pub what: PathFor,
    /// What was typed.
    pub text: String,
}

impl PathFor {
    /// The question.
    pub fn title(self) -> &'static str {
        match self {
            Self::Open => "Which recording?",
            Self::OpenFolder => "Which folder of recordings?",
            Self::Save => "Save as",
            Self::Compare => "Compare with which recording?",
            Self::Export => "Export as",
            Self::Folder => "Which folder of pictures?",
        }
    }

    /// An example.
    pub fn example(self) -> &'static str {
        match self {
            Self::Open | Self::Compare => "/path/to/run.jsonl.zst",
            Self::OpenFolder => "/path/to/recordings",
            Self::Save => "run.jsonl.zst",
            Self::Export => "run.json.gz",
            Self::Folder => "/path/to/pictures",
        }
    }

    /// What the path has to be, beyond that; empty: nothing.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Save => ".jsonl.zst compressed, .jsonl plain",
            Self::Export => {
                ".json.gz or .json for Perfetto; .parquet or .csv for pandas: six tables, run.batches.csv, run.samples.csv and so on"
            }
            Self::Open | Self::OpenFolder | Self::Compare | Self::Folder => "",
        }
    }

    /// The name of the button.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Open | Self::OpenFolder => "Open",
            Self::Save => "Save",
            Self::Compare => "Compare",
            Self::Export => "Export",
            Self::Folder => "Use it",
        }
    }
}

impl TypedPath {
    /// The path that is meant. `~` is the home directory, as everywhere.
    pub fn path(&self) -> PathBuf {
        let text = self.text.trim();
        match (text.strip_prefix("~/"), std::env::home_dir()) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        }
    }
}
