//! What a trace says about itself.

/// What a trace says about itself.
#[derive(Debug, Default)]
pub(super) struct Header {
    /// What its times count from, ns since 1970.
    pub base: i64,
    /// The host.
    pub host: String,
    /// Rank and number of ranks.
    pub rank: u32,
    pub world_size: u32,
    /// It is an export of ours.
    pub is_ours: bool,
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
