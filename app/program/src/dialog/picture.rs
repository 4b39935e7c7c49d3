//! Saves an image.

use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder as _, ImageError};
use loadscope_files::{AtomicFile, Existing, WriteError, check_not_input};
use loadscope_model::effect::Picture;
use loadscope_words::say;

/// Writes the image as PNG, regardless of the extension. `input` is its recording.
///
/// # Errors
/// If the file is that recording or cannot be written, or the recorded pixels do not match the recorded size.
pub fn save(picture: &Picture, path: &Path, input: Option<&Path>) -> Result<(), PictureError> {
    if let Some(input) = input {
        check_not_input(path, input)?;
    }
    let colors = match picture.channels {
        3 => ExtendedColorType::Rgb8,
        _ => ExtendedColorType::L8,
    };
    let (w, h) = (picture.width, picture.height);
    // The encoder assumes that the pixels match the size.
    let expected = u64::from(w) * u64::from(h) * u64::from(colors.channel_count());
    if picture.pixels.len() as u64 != expected {
        return Err(PictureError::Size(w, h, picture.pixels.len()));
    }
    let mut png = Vec::new();
    PngEncoder::new(&mut png).write_image(&picture.pixels, w, h, colors)?;
    // The dialog has asked before replacing a file.
    Ok(AtomicFile::write_all_to(path, Existing::Replace, &png)?)
}

/// Error of saving an image.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// Mismatch between the recorded pixels and the recorded size.
    #[error("{}", say!("an image of {0}×{1} pixels cannot have the {2} bytes in the recording", .2, .0, .1))]
    Size(u32, u32, usize),
    /// Error of the PNG encoder.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Error of writing the file.
    #[error(transparent)]
    File(#[from] WriteError),
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use std::fs;

    use super::*;

    fn two_pixels() -> Picture {
        Picture {
            name: "epoch-0-batch-0-sample-3".to_owned(),
            width: 2,
            height: 1,
            channels: 3,
            pixels: (6..12).collect(),
        }
    }

    #[test]
    fn a_saved_picture_has_the_recorded_pixels() {
        let picture = two_pixels();
        assert_eq!(picture.file_name(), "epoch-0-batch-0-sample-3.png");
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("picture");
        save(&picture, &path, None).expect("there is room");
        let bytes = fs::read(&path).expect("it was just written");
        let read = image::load_from_memory(&bytes).expect("a PNG").into_rgb8();
        assert_eq!((read.width(), read.height()), (2, 1));
        assert_eq!(read.into_raw(), picture.pixels);
        assert!(save(&picture, &dir.path().join("missing/picture.png"), None).is_err());
    }

    #[test]
    fn an_old_file_is_replaced_only_by_a_complete_picture() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (old, recording) = (dir.path().join("old.png"), dir.path().join("run.jsonl"));
        for path in [&old, &recording] {
            fs::write(path, "old").expect("room");
        }
        let refused = save(&two_pixels(), &recording, Some(&recording));
        assert!(matches!(
            refused,
            Err(PictureError::File(WriteError::IsInput(_)))
        ));
        assert_eq!(fs::read(&recording).expect("it is there"), b"old");
        let too_few = Picture {
            height: 9,
            ..two_pixels()
        };
        let refused = save(&too_few, &old, Some(&recording));
        assert!(matches!(refused, Err(PictureError::Size(2, 9, 6))));
        assert_eq!(fs::read(&old).expect("it is there"), b"old");
        save(&two_pixels(), &old, Some(&recording)).expect("there is room");
        assert!(image::open(&old).is_ok());
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_a_full_device_is_reported() {
        use std::os::unix::fs::{FileTypeExt as _, symlink};
        let dir = tempfile::tempdir().expect("a temporary folder");
        let (target, link) = (dir.path().join("target"), dir.path().join("link.png"));
        fs::write(&target, "precious").expect("room");
        symlink(&target, &link).expect("links");
        save(&two_pixels(), &link, None).expect("there is room");
        assert_eq!(fs::read(&target).expect("untouched"), b"precious");
        assert!(fs::symlink_metadata(&link).is_ok_and(|found| found.is_file()));
        let full = dir.path().join("full");
        symlink("/dev/full", &full).expect("links");
        let told = save(&two_pixels(), &full, None).expect_err("it is full");
        assert!(told.to_string().contains("cannot write"), "{told}");
        let kind = fs::metadata("/dev/full").expect("a device").file_type();
        assert!(kind.is_char_device());
    }
}
