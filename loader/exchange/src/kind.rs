//! The kinds of inputs.

use loadscope_words::say;

use std::fmt;

/// Kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Recording of Loadscope.
    Log,
    /// Trace of `torch.profiler` (Kineto), plain or compressed with gzip.
    Profiler,
    /// Log of LotusTrace, or a folder of logs.
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
