//! Typed paths, for systems without a file dialog.

use loadscope_words::say;

use std::path::PathBuf;

/// Purpose of a typed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathFor {
    /// A recording to open.
    Open,
    /// A folder of recordings to open.
    OpenFolder,
    /// Destination of the recording.
    Save,
    /// A recording to compare with.
    Compare,
    /// Destination of the export.
    Export,
    /// A folder of images.
    Folder,
}

/// A path that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedPath {
    /// Use of the path after it is typed.
    pub what: PathFor,
    /// Typed text.
    pub text: String,
}

impl PathFor {
    /// Returns the question.
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

    /// Returns an example.
    pub fn example(self) -> &'static str {
        match self {
            Self::Open | Self::Compare => "/path/to/run.jsonl.zst",
            Self::OpenFolder => "/path/to/recordings",
            Self::Save => "run.jsonl.zst",
            Self::Export => "run.json.gz",
            Self::Folder => "/path/to/pictures",
        }
    }

    /// Returns further requirements on the path, or an empty text if there are none.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Save => say!(".jsonl.zst for a compressed file, .jsonl for plain text"),
            Self::Export => {
                say!(
                    "Use .json.gz for Perfetto, .speedscope.json for speedscope or .pb.gz for pprof. Use .parquet or .csv for pandas: a file per table, such as run.batches.csv."
                )
            }
            Self::Open | Self::OpenFolder | Self::Compare | Self::Folder => "",
        }
    }

    /// Returns the label of the button.
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
    /// Returns the path that the text denotes.
    pub fn path(&self) -> PathBuf {
        expanded(self.text.trim())
    }
}

/// Returns the path that a text denotes. `~` is the home directory, as in a shell.
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
    fn a_leading_tilde_expands_to_the_home_directory() {
        let Some(home) = std::env::home_dir() else {
            return;
        };
        assert_eq!(expanded("~/data/run.jsonl"), home.join("data/run.jsonl"));
        for text in ["~", "data/~/run", "/data", ""] {
            assert_eq!(expanded(text), PathBuf::from(text));
        }
    }
}
