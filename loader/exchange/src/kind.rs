//! What can be opened.

use loadscope_words::say;

use std::fmt;

/// What can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A recording of Loadscope.
    Log,
    /// A trace of `torch.profiler` (Kineto), plain or compressed with gzip.
    Profiler,
    /// Logs of LotusTrace: one of them, or their folder.
    Lotus,
    /// Statistics of SPDL in an SQLite file.
    Spdl,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Log => "recording",
            Self::Profiler => say!("Chrome trace"),
            Self::Lotus => say!("LotusTrace log"),
            Self::Spdl => say!("SQLite file"),
        })
    }
}
