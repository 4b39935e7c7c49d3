//! TIFF with gray and alpha, which the `image` decoder refuses.

use std::io::Cursor;

use image::{DynamicImage, GrayAlphaImage};
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult};

/// Decodes a TIFF with gray and alpha of 8 bits each and at most `most` pixels. Returns `None` for other files.
pub(super) fn read(bytes: &[u8], most: u64) -> Option<DynamicImage> {
    let mut decoder = Decoder::new(Cursor::new(bytes)).ok()?;
    let two = ColorType::Multiband {
        bit_depth: 8,
        num_samples: 2,
    };
    let (width, height) = decoder.dimensions().ok()?;
    if decoder.colortype().ok()? != two || u64::from(width) * u64::from(height) > most {
        return None;
    }
    let DecodingResult::U8(data) = decoder.read_image().ok()? else {
        return None;
    };
    GrayAlphaImage::from_raw(width, height, data).map(DynamicImage::ImageLumaA8)
}
