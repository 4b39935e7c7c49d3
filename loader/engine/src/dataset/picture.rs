//! Loading an image file as a tensor: read, decode, resize.

mod error;
mod grey_alpha;
mod jpeg;
mod mask;
mod pixels;

use std::cell::RefCell;
use std::io::{self, Cursor, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::{
    bmp::BmpDecoder, jpeg::JpegDecoder, png::PngDecoder, pnm::PnmDecoder, tiff::TiffDecoder,
    webp::WebPDecoder,
};
use image::{ColorType, DynamicImage, ImageDecoder, ImageFormat, Limits};
use loadscope_files::{ReadError, open_regular};
use loadscope_words::{path_error, say};
use tch::{Kind, Tensor};

use super::{SampleClock, SampleError};
use crate::value::new_tensor;
use error::MAX_PIXELS;
pub(super) use error::PictureError;
pub(super) use mask::decode_mask;

/// Maximum side of a resized image.
pub(super) const MAX_SIDE: u32 = 8192;
/// Maximum size of an image file, and maximum memory of its decoder, bytes.
const MAX_BYTES: u64 = 1 << 30;
/// Maximum size of a buffer that is kept for the next image.
const KEEP_BYTES: usize = 64 << 20;

/// Buffers that a thread reuses for every image.
#[derive(Default)]
struct Scratch {
    decoded: Vec<u8>,
    resized: Vec<u8>,
    resizer: Resizer,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Loads an image as RGB, uint8 `[3, side, side]`.
///
/// # Errors
/// OSError if the file is unreadable or damaged, UnidentifiedImageError if it is not an image, DecompressionBombError
/// if it is too large. All name the file and the remedy.
pub(super) fn load(path: &Path, side: u32, clock: &mut SampleClock) -> Result<Tensor, SampleError> {
    let bytes = clock.stage("read", || read_file(path))?;
    decode(&bytes, side, clock).map_err(|error| error.into_sample_error(path.display()))
}

/// Reads a regular file. A pipe might block, and a device might never end.
fn read_file(path: &Path) -> Result<Vec<u8>, SampleError> {
    let shown = path.display();
    let unreadable = |e: io::Error| path_error(path, &e);
    let fail = |message: String| SampleError::new("OSError", message);
    let file = open_regular(path).map_err(|e| {
        fail(match e {
            ReadError::NotAFile { what, .. } => {
                say!("image {shown} is {what}, not a regular file. Delete or replace it.")
            }
            ReadError::Io { cause, .. } => unreadable(cause),
            other => other.to_string(),
        })
    })?;
    let size = file.metadata().map_or(0, |about| about.len());
    let mut bytes = Vec::new();
    if size <= MAX_BYTES {
        // The buffer has one more byte, to detect a file that grows.
        bytes.reserve_exact(usize::try_from(size).unwrap_or_default() + 1);
        let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|e| fail(unreadable(e)))?;
    }
    if size > MAX_BYTES || bytes.len() as u64 > MAX_BYTES {
        return Err(fail(say!(
            "image {shown} has more than {MAX_BYTES} bytes, the limit for an image. Make it smaller."
        )));
    }
    Ok(bytes)
}

/// Decodes a file's bytes, like [`load`].
fn decode(bytes: &[u8], side: u32, clock: &mut SampleClock) -> Result<Tensor, PictureError> {
    decode_sized(bytes, Some(side), clock).map(|(tensor, _)| tensor)
}

/// Decodes an image, and resizes it to a square if a side is given. Also returns its width and height in the file.
pub(super) fn decode_sized(
    bytes: &[u8],
    side: Option<u32>,
    clock: &mut SampleClock,
) -> Result<(Tensor, (u32, u32)), PictureError> {
    // The borrow cannot fail, since decoding does not recurse. A new buffer is correct in any case.
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => decode_with(bytes, side, clock, &mut scratch),
        Err(_) => decode_with(bytes, side, clock, &mut Scratch::default()),
    })
}

fn decode_with(
    bytes: &[u8],
    side: Option<u32>,
    clock: &mut SampleClock,
    scratch: &mut Scratch,
) -> Result<(Tensor, (u32, u32)), PictureError> {
    let Some(side) = side else {
        return original(bytes, clock);
    };
    let Scratch {
        decoded,
        resized,
        resizer,
    } = scratch;
    let (width, height) = clock.stage("decode", || decode_catching_panics(bytes, decoded))?;
    let tensor = clock.stage("resize", || {
        let rgb = resize(decoded, width, height, side, resized, resizer)?;
        planes(rgb, side, side)
    });
    if decoded.capacity() > KEEP_BYTES {
        *decoded = Vec::new();
    }
    Ok((tensor?, (width, height)))
}

/// Returns an image in its own size.
///
/// Like torchvision's `pil_to_tensor`, it is a view of row-major pixels with the channels as first axis. The decoder
/// writes straight into its memory.
fn original(bytes: &[u8], clock: &mut SampleClock) -> Result<(Tensor, (u32, u32)), PictureError> {
    clock.stage("decode", || {
        let mut pixels = NewTensor(None);
        let size = decode_catching_panics(bytes, &mut pixels)?;
        let view = pixels.0.map(|pixels| pixels.f_permute([2, 0, 1]));
        match view {
            Some(Ok(view)) => Ok((view, size)),
            Some(Err(error)) => Err(PictureError::Torch(error.to_string())),
            None => Err(PictureError::Damaged(say!("it has no pixels").to_owned())),
        }
    })
}

/// Destination of a decoder.
trait PixelSink {
    /// Allocates `width` × `height` pixels of 3 bytes, row-major, which `write` fills.
    fn fill(
        &mut self,
        width: u32,
        height: u32,
        write: impl FnOnce(&mut [u8]) -> Result<(), PictureError>,
    ) -> Result<(), PictureError>;
}

/// A buffer that is reused for the next image.
impl PixelSink for Vec<u8> {
    fn fill(
        &mut self,
        width: u32,
        height: u32,
        write: impl FnOnce(&mut [u8]) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        self.resize(width as usize * height as usize * 3, 0);
        write(self)
    }
}

/// A new tensor `[height, width, 3]`.
struct NewTensor(Option<Tensor>);

impl PixelSink for NewTensor {
    fn fill(
        &mut self,
        width: u32,
        height: u32,
        write: impl FnOnce(&mut [u8]) -> Result<(), PictureError>,
    ) -> Result<(), PictureError> {
        let size = [i64::from(height), i64::from(width), 3];
        let mut written = Ok(());
        let tensor = new_tensor(&size, Kind::Uint8, |bytes| written = write(bytes));
        written?;
        self.0 = Some(tensor.map_err(|e| PictureError::Torch(e.to_string()))?);
        Ok(())
    }
}

/// Decodes with a guard against panics: a bug in a decoder must cost only a sample, not the program.
fn decode_catching_panics(
    bytes: &[u8],
    sink: &mut impl PixelSink,
) -> Result<(u32, u32), PictureError> {
    catch_unwind(AssertUnwindSafe(|| decode_rgb(bytes, sink)))
        .unwrap_or_else(|_| Err(PictureError::Damaged(say!("the decoder failed").to_owned())))
}

/// Decodes into `sink` (row-major, 3 bytes per pixel) and returns width and height.
fn decode_rgb(bytes: &[u8], sink: &mut impl PixelSink) -> Result<(u32, u32), PictureError> {
    if bytes.is_empty() {
        return Err(PictureError::Empty);
    }
    match image::guess_format(bytes) {
        Ok(ImageFormat::Jpeg) => {
            let outcome = JpegDecoder::new(Cursor::new(bytes))
                .map_err(PictureError::from)
                .and_then(|decoder| read(decoder, sink));
            // The decoder fills missing parts with gray. Pillow raises an error, which a training run needs.
            match outcome {
                Ok(_) | Err(PictureError::Damaged(_)) if !jpeg::is_complete(bytes) => {
                    Err(PictureError::Truncated)
                }
                outcome => outcome,
            }
        }
        Ok(ImageFormat::Png) => {
            // Other compressed data, such as a color profile, may also be a decompression bomb.
            let decoder = PngDecoder::with_limits(Cursor::new(bytes), limits())?;
            read(decoder, sink)
        }
        Ok(ImageFormat::WebP) => read(WebPDecoder::new(Cursor::new(bytes))?, sink),
        Ok(ImageFormat::Bmp) => read(BmpDecoder::new(Cursor::new(bytes))?, sink),
        Ok(ImageFormat::Pnm) => read_stretched(PnmDecoder::new(Cursor::new(bytes))?, sink),
        Ok(ImageFormat::Tiff) => match TiffDecoder::new(Cursor::new(bytes)) {
            Ok(decoder) => read_oriented(decoder, sink),
            Err(error) => match grey_alpha::read(bytes, MAX_PIXELS) {
                Some(image) => write_pixels(image, sink, pixels::high_byte),
                None => Err(error.into()),
            },
        },
        Ok(ImageFormat::Gif) => Err(PictureError::Undecodable("GIF")),
        Ok(ImageFormat::Avif) => Err(PictureError::Undecodable("AVIF")),
        _ => match pixels::name(bytes) {
            Some(name) => Err(PictureError::Undecodable(name)),
            None => Err(PictureError::Unidentified),
        },
    }
}

/// Sets the limits of a decoder and returns width and height.
fn apply_limits(decoder: &mut impl ImageDecoder) -> Result<(u32, u32), PictureError> {
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err(PictureError::Damaged(say!("it has no pixels").to_owned()));
    }
    if u64::from(width) * u64::from(height) > MAX_PIXELS || decoder.total_bytes() > MAX_BYTES {
        return Err(PictureError::TooLarge(width, height));
    }
    decoder.set_limits(limits())?;
    Ok((width, height))
}

fn read(decoder: impl ImageDecoder, sink: &mut impl PixelSink) -> Result<(u32, u32), PictureError> {
    read_as(decoder, sink, pixels::high_byte)
}

/// Applies the orientation of the header, which Pillow does only for TIFF.
fn read_oriented(
    mut decoder: impl ImageDecoder,
    sink: &mut impl PixelSink,
) -> Result<(u32, u32), PictureError> {
    apply_limits(&mut decoder)?;
    let orientation = decoder.orientation()?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    write_pixels(image, sink, pixels::high_byte)
}

/// Reads PNM. 8-bit values with a maximum below 255 are stretched as in Pillow.
fn read_stretched(
    mut decoder: PnmDecoder<Cursor<&[u8]>>,
    sink: &mut impl PixelSink,
) -> Result<(u32, u32), PictureError> {
    let most = decoder.header().maximal_sample();
    if most >= 255 {
        return read_as(decoder, sink, pixels::rounded);
    }
    apply_limits(&mut decoder)?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    pixels::stretch(&mut image, most);
    write_pixels(image, sink, pixels::rounded)
}

/// Writes the pixels of an image to their destination.
fn write_pixels(
    image: DynamicImage,
    sink: &mut impl PixelSink,
    narrow: fn(u16) -> u8,
) -> Result<(u32, u32), PictureError> {
    let (width, height) = (image.width(), image.height());
    let converted = pixels::rgb(image, narrow)?;
    sink.fill(width, height, |rgb| match converted.get(..rgb.len()) {
        Some(converted) => {
            rgb.copy_from_slice(converted);
            Ok(())
        }
        None => Err(PictureError::Damaged(
            say!("it has too few pixels").to_owned(),
        )),
    })?;
    Ok((width, height))
}

/// Reads an image. `narrow` converts 16-bit colors to 8 bits.
fn read_as(
    mut decoder: impl ImageDecoder,
    sink: &mut impl PixelSink,
    narrow: fn(u16) -> u8,
) -> Result<(u32, u32), PictureError> {
    let (width, height) = apply_limits(&mut decoder)?;
    if decoder.color_type() == ColorType::Rgb8 {
        // The common case decodes straight to its destination.
        sink.fill(width, height, |rgb| Ok(decoder.read_image(rgb)?))?;
    } else if decoder.color_type() == ColorType::L8 {
        // The gray value is repeated three times, since a general conversion takes as long as decoding.
        let mut grey = vec![0; decoder.total_bytes() as usize];
        decoder.read_image(&mut grey)?;
        sink.fill(width, height, |rgb| {
            let (pixels, _) = rgb.as_chunks_mut::<3>();
            for (pixel, grey) in pixels.iter_mut().zip(grey) {
                *pixel = [grey; 3];
            }
            Ok(())
        })?;
    } else {
        // The remaining types have 16 bits or transparency, which is dropped as in Pillow's `convert("RGB")`.
        return write_pixels(DynamicImage::from_decoder(decoder)?, sink, narrow);
    }
    Ok((width, height))
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_BYTES);
    limits
}

/// Resizes to a square with a triangle filter scaled by the reduction: torchvision's bilinear with antialiasing.
fn resize<'a>(
    rgb: &'a [u8],
    width: u32,
    height: u32,
    side: u32,
    resized: &'a mut Vec<u8>,
    resizer: &mut Resizer,
) -> Result<&'a [u8], PictureError> {
    if width == side && height == side {
        return Ok(rgb);
    }
    let damaged = |what: String| PictureError::Damaged(what);
    resized.resize(side as usize * side as usize * 3, 0);
    let source = ImageRef::new(width, height, rgb, PixelType::U8x3)
        .map_err(|e| damaged(say!("its pixels do not match its size: {e}")))?;
    let mut target = Image::from_slice_u8(side, side, resized, PixelType::U8x3)
        .map_err(|e| damaged(say!("it cannot be resized: {e}")))?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    resizer
        .resize(&source, &mut target, &options)
        .map_err(|e| damaged(say!("it cannot be resized: {e}")))?;
    Ok(resized)
}

/// Converts interleaved RGB to a tensor of three planes.
fn planes(rgb: &[u8], width: u32, height: u32) -> Result<Tensor, PictureError> {
    let size = [3, i64::from(height), i64::from(width)];
    new_tensor(&size, Kind::Uint8, |bytes| {
        let plane = bytes.len() / 3;
        let (red, rest) = bytes.split_at_mut(plane);
        let (green, blue) = rest.split_at_mut(plane);
        // The loop order is plane by plane, so that each loop reads and writes sequentially.
        let (pixels, _) = rgb.as_chunks::<3>();
        red.iter_mut()
            .zip(pixels)
            .for_each(|(to, [r, _, _])| *to = *r);
        green
            .iter_mut()
            .zip(pixels)
            .for_each(|(to, [_, g, _])| *to = *g);
        blue.iter_mut()
            .zip(pixels)
            .for_each(|(to, [_, _, b])| *to = *b);
    })
    .map_err(|e| PictureError::Torch(e.to_string()))
}

#[cfg(test)]
mod tests;
