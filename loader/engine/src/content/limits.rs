//! How much of a batch is kept.

/// How much of a batch is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLimits {
    /// Longer side of a kept picture in pixels; larger ones are shrunk (default 48).
    pub side: u32,
    /// Most pictures of a batch (default 64).
    pub samples: usize,
    /// Most numbers or texts of a field (default 1024): a few rows of a heat map.
    pub numbers: usize,
    /// Most elements that statistics look at; of larger tensors a regular subset (default 2^16).
    pub elements: usize,
    /// Most fields of a batch (default 64).
    pub fields: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self {
            side: 48,
            samples: 64,
            numbers: 1024,
            elements: 1 << 16,
            fields: 64,
        }
    }
}
