//! How much of a batch is kept.

/// How much of a batch is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLimits {
    /// Longer side of a kept picture in pixels; larger ones are shrunk (default 48).
    pub side: u32,
    /// Longer side of pictures that differ in size and of masks, to be looked at with their boxes (default 96).
    pub annotated_side: u32,
    /// Most pictures of a field (default 64).
    pub samples: usize,
    /// Most numbers or texts of a field (default 1024): a few rows of a heat map.
    pub numbers: usize,
    /// Most elements that statistics look at; of larger tensors a regular subset (default 2^16).
    pub elements: usize,
    /// Most fields of a batch (default 320: 32 samples of detection, with ten fields each).
    pub fields: usize,
    /// Most waveforms of a field that are kept as curves and spectrograms (default 16).
    pub waveforms: usize,
}

impl Default for ContentLimits {
    fn default() -> Self {
        Self {
            side: 48,
            annotated_side: 96,
            samples: 64,
            numbers: 1024,
            elements: 1 << 16,
            fields: 320,
            waveforms: 16,
        }
    }
}
