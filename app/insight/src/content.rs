//! Views of several leaves of a batch together: images with boxes, masks, keypoints and captions, table rows, padded
//! sequences, waveforms.
//! The views are recognized by the names and shapes that torchvision, Hugging Face and Loadscope's datasets use. The recognition works
//! for recordings of any program.

mod annotated;
pub mod path;
mod sequences;
mod table;

use loadscope_trace::{BatchContent, RunInfo};

pub use annotated::{Annotated, Boxed, Keypoint, Sample};
pub use sequences::Waveforms;
pub use sequences::{Padding, SequenceRow, Sequences};
pub use table::{Column, Table, Value};

/// Views of a batch in addition to its single leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Views {
    /// Images of unequal sizes, or images with annotations.
    pub annotated: Option<Annotated>,
    /// Columns of equal length.
    pub table: Option<Table>,
    /// Sequences of integers, padded to the length of the longest.
    pub sequences: Vec<Sequences>,
    /// Waveforms with their spectrograms.
    pub waveforms: Vec<Waveforms>,
}

/// Derives the views of a batch.
pub fn views(content: &BatchContent, info: &RunInfo) -> Views {
    Views {
        annotated: Annotated::of(content, &info.classes),
        table: Table::of(content),
        sequences: Sequences::of(content, &info.options),
        waveforms: Waveforms::of(content),
    }
}

#[cfg(test)]
mod tests;
