//! Masks: images whose pixels are class numbers.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use loadscope_words::say;
use png::{BitDepth, ColorType, Decoder, DecodingError, Limits, Transformations};
use tch::{Kind, Tensor};

use super::{MAX_BYTES, MAX_PIXELS, PictureError};
use crate::dataset::SampleClock;
use crate::value::new_tensor;

/// Decodes a PNG mask as uint8 `[height, width]`: palette indices or gray values, like `numpy.array` of Pillow's image.
///
/// # Errors
/// If the file is not a PNG, or has colors without a palette.
pub(in crate::dataset) fn decode_mask(
    bytes: &[u8],
    clock: &mut SampleClock,
) -> Result<Tensor, PictureError> {
    let (pixels, width, height) = clock.stage("decode", || {
        catch_unwind(AssertUnwindSafe(|| decode(bytes)))
            .unwrap_or_else(|_| Err(PictureError::Damaged(say!("the decoder failed").to_owned())))
    })?;
    let size = [i64::from(height), i64::from(width)];
    new_tensor(&size, Kind::Uint8, |out| out.copy_from_slice(&pixels))
        .map_err(|e| PictureError::Torch(e.to_string()))
}

/// Decodes a PNG to one byte per pixel, row-major, with width and height. Unpacks pixels of 1, 2 and 4 bits.
fn decode(bytes: &[u8]) -> Result<(Vec<u8>, u32, u32), PictureError> {
    if bytes.is_empty() {
        return Err(PictureError::Empty);
    }
    if !bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Err(PictureError::Damaged(
            say!("a mask must be a PNG").to_owned(),
        ));
    }
    let limits = Limits {
        bytes: usize::try_from(MAX_BYTES).unwrap_or(usize::MAX),
    };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    // A mask consists of the palette's indices, not of its colors.
    decoder.set_transformations(Transformations::IDENTITY);
    let mut reader = decoder.read_info()?;
    let (width, height) = (reader.info().width, reader.info().height);
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(PictureError::TooLarge(width, height));
    }
    let (colour, depth) = reader.output_color_type();
    if !matches!(colour, ColorType::Indexed | ColorType::Grayscale) || depth == BitDepth::Sixteen {
        return Err(PictureError::Damaged(say!(
            "a mask has a palette or gray values of at most 8 bits, but this is {colour:?} of {} bits",
            depth as u8
        )));
    }
    let line = reader.output_line_size(width).unwrap_or_default();
    let mut packed = vec![0; line.saturating_mul(height as usize)];
    reader.next_frame(&mut packed)?;
    if depth == BitDepth::Eight {
        return Ok((packed, width, height));
    }
    let bits = depth as u8;
    // Pillow scales gray values of 1, 2 and 4 bits to 0..=255, but not indices.
    let scale = match colour {
        ColorType::Grayscale => 255 / ((1u16 << bits) - 1) as u8,
        _ => 1,
    };
    let mut pixels = Vec::with_capacity(width as usize * height as usize);
    for line in packed.chunks_exact(line.max(1)) {
        let each = (0..width as usize).map(|x| {
            let at = x * usize::from(bits);
            let byte = line.get(at / 8).copied().unwrap_or_default();
            let shift = 8 - bits - (at % 8) as u8;
            (byte >> shift & ((1u16 << bits) - 1) as u8) * scale
        });
        pixels.extend(each);
    }
    Ok((pixels, width, height))
}

impl From<DecodingError> for PictureError {
    fn from(error: DecodingError) -> Self {
        match &error {
            DecodingError::IoError(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                Self::Truncated
            }
            DecodingError::LimitsExceeded => {
                Self::Damaged(say!("its decompressed size exceeds the limit").to_owned())
            }
            _ => Self::Damaged(say!("its data cannot be decoded").to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(color: ColorType, depth: BitDepth, width: u32, data: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if color == ColorType::Indexed {
            encoder.set_palette([7; 48].to_vec());
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        bytes
    }

    fn pixels(bytes: &[u8]) -> Result<Vec<u8>, PictureError> {
        let tensor = decode_mask(bytes, &mut SampleClock::off())?;
        assert_eq!(tensor.size()[0], 1);
        Ok(Vec::try_from(tensor.flatten(0, -1)).unwrap())
    }

    #[test]
    fn mask_pixels_are_palette_indices() {
        let eight = mask(ColorType::Indexed, BitDepth::Eight, 3, &[0, 15, 255]);
        assert_eq!(pixels(&eight), Ok(vec![0, 15, 255]));
        let four = mask(ColorType::Indexed, BitDepth::Four, 3, &[0x1f, 0x30]);
        assert_eq!(pixels(&four), Ok(vec![1, 15, 3]));
        let one = mask(ColorType::Indexed, BitDepth::One, 9, &[0b1010_0001, 0x80]);
        assert_eq!(pixels(&one), Ok(vec![1, 0, 1, 0, 0, 0, 0, 1, 1]));
        let grey = mask(ColorType::Grayscale, BitDepth::Two, 4, &[0b0001_1011]);
        assert_eq!(pixels(&grey), Ok(vec![0, 85, 170, 255]));
    }

    #[test]
    fn a_file_that_is_not_a_mask_is_refused() {
        let colors = mask(ColorType::Rgb, BitDepth::Eight, 1, &[1, 2, 3]);
        assert!(
            matches!(pixels(&colors), Err(PictureError::Damaged(what)) if what.contains("palette"))
        );
        assert_eq!(pixels(b""), Err(PictureError::Empty));
        assert!(matches!(
            pixels(b"\xff\xd8\xff"),
            Err(PictureError::Damaged(_))
        ));
        let whole = mask(ColorType::Indexed, BitDepth::Eight, 3, &[0, 15, 255]);
        assert!(pixels(&whole[..whole.len() - 20]).is_err());
    }
}
