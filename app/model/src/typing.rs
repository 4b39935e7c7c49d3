//! A path that is typed, where the system has no dialog to choose a file in.

use loadscope_words::say;

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
            Self::Open => say!("Which recording?"),
            Self::OpenFolder => say!("Which folder of recordings?"),
            Self::Save => say!("Save as"),
            Self::Compare => say!("Compare with which recording?"),
            Self::Export => say!("Export as"),
            Self::Folder => say!("Which folder of images?"),
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
            Self::Save => say!(".jsonl.zst for a compressed file, .jsonl for plain text"),
            Self::Export => {
                say!(
                    "Use .json.gz or .json for Perfetto. Use .parquet or .csv for pandas: six tables (run.batches.csv, run.samples.csv, …)."
                )
            }
            Self::Open | Self::OpenFolder | Self::Compare | Self::Folder => "",
        }
    }

    /// The name of the button.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Open | Self::OpenFolder => say!("Open"),
            Self::Save => say!("Save"),
            Self::Compare => say!("Compare"),
            Self::Export => say!("Export"),
            Self::Folder => say!("Use it"),
        }
    }
}

impl TypedPath {
    /// The path that is meant.
    pub fn path(&self) -> PathBuf {
        expanded(self.text.trim())
    }
}

/// The path that a text means. `~` is the home directory, as in a shell.
pub fn expanded(text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_directory_is_meant_by_its_sign() {
        let Some(home) = std::env::home_dir() else {
            return;
        };
        assert_eq!(expanded("~/data/run.jsonl"), home.join("data/run.jsonl"));
        for text in ["~", "data/~/run", "/data", ""] {
            assert_eq!(expanded(text), PathBuf::from(text));
        }
    }
}
