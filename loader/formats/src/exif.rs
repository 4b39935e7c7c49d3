//! EXIF orientation of images.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use loadscope_files::open_regular;

/// Maximum number of examined images of a dataset.
const MAX_EXAMINED: usize = 32;
/// Maximum size of an image's header with a preview, bytes.
const HEADER: u64 = 256 << 10;

/// Returns a warning if annotated images have an EXIF orientation that a viewer applies.
pub(crate) fn note(paths: impl ExactSizeIterator<Item = PathBuf>) -> Option<String> {
    let step = paths.len().div_ceil(MAX_EXAMINED).max(1);
    let looked: Vec<bool> = (paths.step_by(step))
        .map(|path| header(&path).and_then(|bytes| orientation(&bytes)))
        .map(|orientation| matches!(orientation, Some(2..=8)))
        .collect();
    let turned = looked.iter().filter(|turned| **turned).count();
    (turned > 0).then(|| {
        format!(
            "{turned} of {} examined images have an EXIF orientation. They are loaded as they are stored, as by torchvision. If the \
             annotation tool turned them, their boxes and masks are at the wrong place: apply ImageOps.exif_transpose and save them.",
            looked.len()
        )
    })
}

fn header(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path).ok()?;
    file.take(HEADER).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Returns the orientation of a JPEG, from 1 to 8.
fn orientation(jpeg: &[u8]) -> Option<u16> {
    let mut rest = jpeg.strip_prefix(b"\xff\xd8")?;
    loop {
        let [0xff, marker, high, low, ..] = *rest else {
            return None;
        };
        let size = usize::from(u16::from_be_bytes([high, low]));
        let segment = rest.get(4..2 + size)?;
        if marker == 0xe1
            && let Some(tiff) = segment.strip_prefix(b"Exif\0\0")
        {
            return tag(tiff);
        }
        // After the start of scan (SOS), only pixels follow.
        if marker == 0xda {
            return None;
        }
        rest = rest.get(2 + size..)?;
    }
}

/// Returns the orientation in the first directory of a TIFF header.
fn tag(tiff: &[u8]) -> Option<u16> {
    const ORIENTATION: u16 = 0x0112;
    let is_little = match tiff.get(..2)? {
        b"II" => true,
        b"MM" => false,
        _ => return None,
    };
    let short = |at: usize| {
        let bytes = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(if is_little {
            u16::from_le_bytes(bytes)
        } else {
            u16::from_be_bytes(bytes)
        })
    };
    let bytes = tiff.get(4..8)?.try_into().ok()?;
    let directory = if is_little {
        u32::from_le_bytes(bytes)
    } else {
        u32::from_be_bytes(bytes)
    };
    let directory = usize::try_from(directory).ok()?;
    let entries = usize::from(short(directory)?);
    let mut places = (0..entries).map(|entry| directory.saturating_add(2 + 12 * entry));
    let at = places.find(|at| short(*at) == Some(ORIENTATION))?;
    short(at.checked_add(8)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jpeg(order: &[u8], numbers: fn(u16) -> [u8; 2], orientation: u16) -> Vec<u8> {
        let mut tiff = order.to_vec();
        tiff.extend(numbers(42));
        tiff.extend(if order == b"II" {
            [8, 0, 0, 0]
        } else {
            [0, 0, 0, 8]
        });
        for number in [
            2,
            0x0100,
            3,
            0,
            1,
            7,
            0,
            ORIENTATION,
            3,
            0,
            1,
            orientation,
            0,
        ] {
            tiff.extend(numbers(number));
        }
        let mut bytes = b"\xff\xd8\xff\xe0\x00\x04\0\0\xff\xe1".to_vec();
        bytes.extend((tiff.len() as u16 + 8).to_be_bytes());
        bytes.extend(b"Exif\0\0");
        bytes.extend(tiff);
        bytes
    }

    const ORIENTATION: u16 = 0x0112;

    #[test]
    fn exif_orientation_is_read_in_both_byte_orders() {
        let little = jpeg(b"II", u16::to_le_bytes, 6);
        let big = jpeg(b"MM", u16::to_be_bytes, 3);
        assert_eq!(orientation(&little), Some(6));
        assert_eq!(orientation(&big), Some(3));
        for cut in 0..little.len() - 2 {
            assert_eq!(orientation(&little[..cut]), None, "{cut}");
        }
        assert_eq!(orientation(b"\xff\xd8\xff\xda\0\x02"), None);
        assert_eq!(orientation(b"\x89PNG"), None);
    }

    #[test]
    fn a_note_counts_rotated_images() {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..100)
            .map(|n| dir.path().join(format!("{n}.jpg")))
            .collect();
        for (n, path) in paths.iter().enumerate() {
            let turn = if n % 8 == 0 { 6 } else { 1 };
            #[allow(clippy::disallowed_methods, reason = "a file of a test")]
            std::fs::write(path, jpeg(b"II", u16::to_le_bytes, turn)).unwrap();
        }
        let said = note(paths.clone().into_iter()).unwrap();
        assert!(said.starts_with("13 of 25 examined images"), "{said}");
        assert_eq!(note(paths.into_iter().skip(1).take(6)), None);
    }
}
