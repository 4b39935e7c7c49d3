//! The first line of a stream.

use loadscope_trace::brief;
use loadscope_words::say;
use serde::Deserialize;

use super::{WireError, lenient};

/// The version of the streams that is understood.
const VERSION: u64 = 1;

/// The first line of a stream: who writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Introduction {
    loadscope_stream: u64,
    /// What was handed over in the environment.
    #[serde(default, deserialize_with = "lenient::field")]
    pub token: String,
    /// Process id.
    pub pid: u64,
    /// Process id of the parent.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent: u64,
    /// The monotonic clock, ns, at the same moment as `realtime`.
    pub monotonic: i64,
    /// Ns since 1970.
    pub realtime: i64,
    /// Name of the host.
    #[serde(default, deserialize_with = "lenient::field")]
    pub host: String,
    /// Names the time since the host was started: within it all monotonic clocks agree.
    #[serde(default, deserialize_with = "lenient::field")]
    pub boot: String,
    /// Version of Python.
    #[serde(default, deserialize_with = "lenient::field")]
    pub python: String,
    /// Version of PyTorch.
    #[serde(default, deserialize_with = "lenient::field")]
    pub torch: String,
    /// Name of the script.
    #[serde(default, deserialize_with = "lenient::field")]
    pub program: String,
    /// Rank within the training job.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub rank: Option<u32>,
    /// Number of ranks.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub world_size: Option<u32>,
    /// Rank within the host.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub local_rank: Option<u32>,
    /// Processor cores that the process may use.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub cores: Option<u32>,
}

impl Introduction {
    /// Reads the first line of a stream.
    ///
    /// # Errors
    /// If it is none, or one of another version.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let mut introduction: Self = serde_json::from_slice(line).map_err(|e| {
            let why = WireError::of(e);
            WireError(say!("it does not begin like a stream of the probe: {why}"))
        })?;
        // They are part of the name of every worker.
        introduction.host = brief(introduction.host);
        introduction.boot = brief(introduction.boot);
        match introduction.loadscope_stream {
            VERSION => Ok(introduction),
            other => Err(WireError(say!(
                "its stream has version {other}, and this Loadscope reads version {VERSION}"
            ))),
        }
    }

    /// How far the wall clock is ahead of the monotonic one, ns.
    pub(crate) fn wall_ahead(&self) -> i64 {
        self.realtime.saturating_sub(self.monotonic)
    }
}
