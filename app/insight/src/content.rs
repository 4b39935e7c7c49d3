//! What the leaves of a batch mean together: pictures with boxes, masks, keypoints and captions; rows of a table; sequences with
//! padding; waveforms. Recognised by the names and shapes that torchvision, Hugging Face and the datasets of this program use, so
//! it holds for recordings of any program.

mod annotated;
pub mod path;
mod sequences;
mod table;
mod waveforms;

use loadscope_trace::{BatchContent, RunInfo};

pub use annotated::{Annotated, Boxed, Keypoint, Sample};
pub use sequences::{Padding, SequenceRow, Sequences};
pub use table::{Column, Table, Value};
pub use waveforms::Waveforms;

/// What can be shown of a batch besides its leaves one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Views {
    /// Pictures of unequal sizes, or pictures with annotations.
    pub annotated: Option<Annotated>,
    /// Columns of equal length.
    pub table: Option<Table>,
    /// Sequences of whole numbers, filled up to the length of the longest.
    pub sequences: Vec<Sequences>,
    /// Curves and spectrograms.
    pub waveforms: Vec<Waveforms>,
}

/// Reads a batch.
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
