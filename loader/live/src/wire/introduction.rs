//! First line of a stream.

use loadscope_trace::brief;
use loadscope_words::say;
use serde::Deserialize;

use super::{WireError, lenient};

/// Supported version of the stream format.
const VERSION: u64 = 1;

/// First line of a stream: identity, clocks and versions of the sending process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Introduction {
    loadscope_stream: u64,
    /// Secret token from `LOADSCOPE_PROBE_TOKEN`. Empty if missing.
    #[serde(default, deserialize_with = "lenient::field")]
    pub token: String,
    /// Process id.
    pub pid: u64,
    /// Process id of the parent. 0 if unknown.
    #[serde(default, deserialize_with = "lenient::field")]
    pub parent: u64,
    /// Monotonic clock, ns, at the same instant as `realtime`.
    pub monotonic: i64,
    /// Wall clock, ns since 1970.
    pub realtime: i64,
    /// Host name.
    #[serde(default, deserialize_with = "lenient::field")]
    pub host: String,
    /// Boot id of the host. All processes of one boot share the monotonic clock.
    #[serde(default, deserialize_with = "lenient::field")]
    pub boot: String,
    /// Python version.
    #[serde(default, deserialize_with = "lenient::field")]
    pub python: String,
    /// PyTorch version.
    #[serde(default, deserialize_with = "lenient::field")]
    pub torch: String,
    /// Script name.
    #[serde(default, deserialize_with = "lenient::field")]
    pub program: String,
    /// Rank in the training job. `None` if unknown.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub rank: Option<u32>,
    /// Number of ranks. `None` if unknown.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub world_size: Option<u32>,
    /// Rank on this host. `None` if unknown.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub local_rank: Option<u32>,
    /// Number of CPU cores that the process may use. `None` if unknown.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub cores: Option<u32>,
    /// Time that Python takes to write and read a short JSON list, ns. `None` if unknown.
    #[serde(default, deserialize_with = "lenient::maybe")]
    pub json_ns: Option<u32>,
}

impl Introduction {
    /// Parses the first line of a stream.
    ///
    /// # Errors
    /// Returns an error if the line is not an introduction, or its version is not supported.
    pub fn parse(line: &[u8]) -> Result<Self, WireError> {
        let mut introduction: Self = serde_json::from_slice(line).map_err(|e| {
            let why = WireError::of(e);
            WireError(say!("it does not begin like a stream of the probe: {why}"))
        })?;
        // Host and boot id are part of the key of every worker.
        introduction.host = brief(introduction.host);
        introduction.boot = brief(introduction.boot);
        match introduction.loadscope_stream {
            VERSION => Ok(introduction),
            other => Err(WireError(say!(
                "its stream has version {other}, and this Loadscope reads version {VERSION}"
            ))),
        }
    }

    /// Returns the wall clock minus the monotonic clock, ns.
    pub(crate) fn wall_ahead(&self) -> i64 {
        self.realtime.saturating_sub(self.monotonic)
    }
}
