//! Datasets of user data: samples from the readers of `loadscope_formats`.

mod rows;
mod sample;
mod scale;
mod stream;

use loadscope_formats::Opened;
use loadscope_plan::dataset::{DataSpec, PictureSize};

use crate::dataset::AnyDataset;
use crate::error::LoaderError;

use rows::RowsDataset;
use sample::Shaping;
pub(crate) use sample::dtype;
use stream::StreamDataset;
pub use stream::StreamPlace;

/// Opens `data`. `image_size` is the side of the square to which images are resized, if requested.
///
/// # Errors
/// The problem in the data, with its place and the remedy.
pub(in crate::dataset) fn open(
    data: &DataSpec,
    image_size: u32,
    place: StreamPlace,
) -> Result<AnyDataset, LoaderError> {
    let shaping = Shaping {
        side: match data.size() {
            Some(PictureSize::Square) => Some(image_size),
            Some(PictureSize::Original) | None => None,
        },
        is_annotated: data.format().is_annotated,
    };
    let opened = loadscope_formats::open(data).map_err(|e| LoaderError::Dataset(e.to_string()))?;
    Ok(match opened {
        Opened::Rows(rows) => AnyDataset::map(RowsDataset::new(rows, shaping)),
        Opened::Stream(source) => AnyDataset::iterable(StreamDataset::new(source, shaping, place)),
    })
}
