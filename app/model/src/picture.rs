//! Image of a batch, copied to be saved or put on the clipboard.

use loadscope_trace::{FieldData, Run};

/// Image to save, with the recorded pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Name built from the batch and the sample.
    pub name: String,
    /// Width, pixels.
    pub width: u32,
    /// Height, pixels.
    pub height: u32,
    /// Number of channels: 1 for gray, 3 for RGB.
    pub channels: u8,
    /// Pixels by row, `width * height * channels` values.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Returns the image at position `k` of a field of a batch.
    pub fn of(run: &Run, row: usize, field: usize, k: usize) -> Option<Self> {
        let field = run.content(row)?.fields.get(field)?;
        let FieldData::Pictures(pictures) = &field.data else {
            return None;
        };
        let sample = match run.indices_inside(row).get(k) {
            Some(index) => format!("sample-{index}"),
            None => format!("picture-{k}"),
        };
        let batch = run.batches().get(row)?.id;
        Some(Self {
            name: format!("epoch-{}-batch-{}-{sample}", batch.epoch, batch.idx),
            width: pictures.width,
            height: pictures.height,
            channels: pictures.channels,
            pixels: pictures.get(k)?.to_vec(),
        })
    }

    /// Returns the file name.
    pub fn file_name(&self) -> String {
        format!("{}.png", self.name)
    }
}
