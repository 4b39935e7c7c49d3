//! Bounds for the work and the memory of batch summaries.

/// Limits of the kept contents of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentLimits {
    /// Longer side of a kept image in pixels. Larger ones are shrunk (default 48).
    pub side: u32,
    /// Longer side of masks, and of images that differ in size, which are displayed with their boxes (default 96).
    pub annotated_side: u32,
    /// Maximum number of images of a field (default 64).
    pub samples: usize,
    /// Maximum number of numbers or texts of a field, enough for a few rows of a heat map (default 1024).
    pub numbers: usize,
    /// Maximum number of elements for statistics. Larger tensors use a regular subset (default 2^16).
    pub elements: usize,
    /// Maximum number of fields of a batch (default 320: 32 samples of detection, with ten fields each).
    pub fields: usize,
    /// Maximum number of waveforms of a field with curves and spectrograms (default 16).
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
