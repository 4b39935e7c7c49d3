//! Stores the metadata of a trace: clock, host, rank and writer.

/// Metadata of a trace.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// Reference time of the trace, ns since 1970.
    pub base: i64,
    /// Name of the host.
    pub host: String,
    /// Rank of the process, and number of ranks.
    pub rank: u32,
    pub world_size: u32,
    /// True for an export of Loadscope.
    pub is_ours: bool,
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
