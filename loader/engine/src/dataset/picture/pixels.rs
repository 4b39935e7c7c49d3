//! Pixels as Pillow's `convert("RGB")` produces them.

use image::DynamicImage;

use super::PictureError;

/// Returns the high byte of a color, like Pillow's decoders for PNG and TIFF.
pub(super) fn high_byte(sample: u16) -> u8 {
    (sample >> 8) as u8
}

/// Returns the nearest 8-bit color, like Pillow's decoder for PNM.
pub(super) fn rounded(sample: u16) -> u8 {
    ((u32::from(sample) + 128) / 257) as u8
}

/// Rounds values that the decoder stretched from 0..=`most`. Halves are rounded to even, as in Python.
pub(super) fn stretch(image: &mut DynamicImage, most: u32) {
    let most = f64::from(most.max(1));
    let even = |value: &mut u8| {
        let raw = (f64::from(*value) * most / 255.0).round();
        *value = (raw / most * 255.0).round_ties_even() as u8;
    };
    match image {
        DynamicImage::ImageLuma8(grey) => grey.iter_mut().for_each(even),
        DynamicImage::ImageRgb8(image) => image.iter_mut().for_each(even),
        _ => {}
    }
}

/// Returns row-major pixels of 3 bytes. 16-bit gray values are clipped at 255, and 16-bit colors are narrowed.
///
/// # Errors
/// If the pixels are floats, which Pillow does not open either.
pub(super) fn rgb(image: DynamicImage, narrow: fn(u16) -> u8) -> Result<Vec<u8>, PictureError> {
    Ok(match image {
        DynamicImage::ImageLuma16(grey) => {
            let clipped = grey
                .into_raw()
                .into_iter()
                .map(|value| value.min(255) as u8);
            clipped.flat_map(|value| [value; 3]).collect()
        }
        DynamicImage::ImageLumaA16(grey) => {
            let pixels = grey.pixels().map(|pixel| narrow(pixel.0[0]));
            pixels.flat_map(|value| [value; 3]).collect()
        }
        DynamicImage::ImageRgb16(image) => image.into_raw().into_iter().map(narrow).collect(),
        DynamicImage::ImageRgba16(image) => {
            let color = |pixel: &image::Rgba<u16>| {
                let [red, green, blue, _] = pixel.0;
                [red, green, blue].map(narrow)
            };
            image.pixels().flat_map(color).collect()
        }
        DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_) => {
            return Err(PictureError::Undecodable("32-bit float colour"));
        }
        other => other.into_rgb8().into_raw(),
    })
}

/// Magic numbers of unsupported formats: offset, bytes, name.
const KINDS: [(usize, &[u8], &str); 7] = [
    (4, b"ftypheic", "HEIC"),
    (4, b"ftypmif1", "HEIF"),
    (0, b"\0\0\0\x0cJXL ", "JPEG XL"),
    (0, b"\xff\x0a", "JPEG XL"),
    (0, b"\0\0\0\x0cjP  ", "JPEG 2000"),
    (0, b"8BPS", "Photoshop"),
    (0, b"<svg", "SVG"),
];

/// Returns the name of a format that cannot be decoded.
pub(super) fn name(bytes: &[u8]) -> Option<&'static str> {
    let is = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let found = KINDS.iter().find(|(at, magic, _)| is(*at, magic));
    found.map(|(.., name)| *name)
}
