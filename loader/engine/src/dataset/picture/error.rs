//! Errors of images.

use std::{fmt, io};

use image::ImageError;
use loadscope_words::say;

use crate::dataset::SampleError;

/// Maximum number of pixels, as in Pillow (twice its `MAX_IMAGE_PIXELS`). A few bytes can unpack to gigabytes.
pub(super) const MAX_PIXELS: u64 = 2 * 89_478_485;

/// Error of an image.
#[derive(Debug, PartialEq)]
pub(in crate::dataset) enum PictureError {
    Empty,
    Unidentified,
    Undecodable(&'static str),
    Unsupported,
    Truncated,
    Damaged(String),
    TooLarge(u32, u32),
    Torch(String),
}

impl PictureError {
    /// Converts to the error of a sample. `path` names the image.
    pub(in crate::dataset) fn into_sample_error(self, path: impl fmt::Display) -> SampleError {
        let (kind, message) = match self {
            Self::Empty => (
                "UnidentifiedImageError",
                say!("image {path} is empty (0 bytes). Delete it or copy it again."),
            ),
            Self::Unidentified => (
                "UnidentifiedImageError",
                say!(
                    "cannot identify image file {path}: it is not JPEG, PNG, WebP, BMP, TIFF or PNM. Delete or replace it."
                ),
            ),
            Self::Undecodable(format) => (
                "UnidentifiedImageError",
                say!("image {path} is a {format} file. Convert it to JPEG or PNG."),
            ),
            Self::Unsupported => (
                "UnidentifiedImageError",
                say!(
                    "image {path} has a compression or pixel format that is not supported. Convert it to JPEG or PNG."
                ),
            ),
            Self::Truncated => (
                "OSError",
                say!("image file is truncated: {path} is incomplete. Copy it again."),
            ),
            Self::Damaged(what) => (
                "OSError",
                say!("image {path} is damaged ({what}). Replace or delete it."),
            ),
            Self::TooLarge(width, height) => (
                "DecompressionBombError",
                say!(
                    "image {path} has {width}×{height} pixels, more than the limit of {MAX_PIXELS}. Make it smaller."
                ),
            ),
            Self::Torch(what) => (
                "RuntimeError",
                say!("cannot convert {path} to a tensor: {what}"),
            ),
        };
        SampleError::new(kind, message)
    }
}

impl From<ImageError> for PictureError {
    fn from(error: ImageError) -> Self {
        match &error {
            ImageError::IoError(e) if e.kind() == io::ErrorKind::UnexpectedEof => Self::Truncated,
            ImageError::Unsupported(_) => Self::Unsupported,
            ImageError::Limits(_) => {
                Self::Damaged(say!("its decompressed size exceeds the limit").to_owned())
            }
            _ => Self::Damaged(say!("its data cannot be decoded").to_owned()),
        }
    }
}
