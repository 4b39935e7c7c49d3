//! A picture on its way to a file.

use loadscope_trace::{FieldData, Run};

/// A picture on its way to a file, with the pixels that were recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// What it is called: the batch and the sample.
    pub name: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1: grey; 3: red, green and blue.
    pub channels: u8,
    /// Row by row, `width * height * channels` values.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// A picture of the content of a batch: its field, and its place in it.
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

    /// A name for its file.
    pub fn file_name(&self) -> String {
        format!("{}.png", self.name)
    }
}
