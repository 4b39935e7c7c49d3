//! Writes a picture to a file.

use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder as _, ImageError};
use loadscope_files::{Existing, NewFile, WriteError};
use loadscope_model::picture::Picture;

/// Writes it as PNG, whatever the name ends with.
///
/// # Errors
/// If the file cannot be written, or the recorded pixels do not match the recorded size.
pub fn save(picture: &Picture, path: &Path) -> Result<(), PictureError> {
    let colours = match picture.channels {
        3 => ExtendedColorType::Rgb8,
        _ => ExtendedColorType::L8,
    };
    let (w, h) = (picture.width, picture.height);
    let mut png = Vec::new();
    PngEncoder::new(&mut png).write_image(&picture.pixels, w, h, colours)?;
    // The dialog has asked whether to replace a file.
    Ok(NewFile::write_all_to(path, Existing::Replace, &png)?)
}

/// Why a picture was not saved.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The recorded pixels do not match the recorded size.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] WriteError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_picture_has_the_recorded_pixels() {
        let picture = Picture {
            name: "epoch-0-batch-0-sample-3".to_owned(),
            width: 2,
            height: 1,
            channels: 3,
            pixels: (6..12).collect(),
        };
        assert_eq!(picture.file_name(), "epoch-0-batch-0-sample-3.png");
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("picture");
        save(&picture, &path).expect("there is room");
        let bytes = std::fs::read(&path).expect("it was just written");
        let read = image::load_from_memory(&bytes).expect("a PNG").into_rgb8();
        assert_eq!((read.width(), read.height()), (2, 1));
        assert_eq!(read.into_raw(), picture.pixels);
        assert!(save(&picture, &dir.path().join("missing/picture.png")).is_err());
    }
}
