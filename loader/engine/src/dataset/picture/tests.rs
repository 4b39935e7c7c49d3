#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]

use super::*;
use image::{GrayImage, ImageBuffer, Luma, LumaA, Rgb, RgbImage, Rgba};
use proptest::prelude::*;
use std::time::Instant;

fn gradient(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        Rgb([
            (x * 5 % 256) as u8,
            (y * 3 % 256) as u8,
            ((x ^ y) % 256) as u8,
        ])
    })
}

fn encode(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn pixels(bytes: &[u8], side: u32) -> Vec<u8> {
    let tensor = decode(bytes, side, &mut SampleClock::off()).unwrap();
    assert_eq!(tensor.size(), [3, i64::from(side), i64::from(side)]);
    Vec::try_from(tensor.flatten(0, -1)).unwrap()
}

fn fault(bytes: &[u8]) -> PictureError {
    decode(bytes, 8, &mut SampleClock::off()).unwrap_err()
}

/// Compares with `round(30 / 100 * 255)`, which is 76 in Python because 76.5 is rounded to even.
#[test]
fn low_values_of_pnm_are_stretched_as_in_python() {
    let rgb = |file: &[u8]| {
        let mut rgb = Vec::new();
        decode_rgb(file, &mut rgb).unwrap();
        rgb
    };
    for (most, value, stretched) in [(100, 30, 76), (100, 10, 26), (100, 100, 255), (31, 31, 255)] {
        let file = [format!("P5\n1 1\n{most}\n").as_bytes(), &[value]].concat();
        assert_eq!(rgb(&file), [stretched; 3], "{value} of {most}");
    }
    let black = [0, 0, 0, 0, 0, 0];
    assert_eq!(rgb(b"P4\n4 1\n\xC0")[..6], black);
    assert_eq!(rgb(b"P4\n4 1\n\xC0")[6..], [255; 6]);
}

/// Decodes a TIFF as Pillow writes it: two samples per pixel, the second one alpha.
#[test]
fn a_grey_alpha_tiff_decodes_to_grey() {
    let entry = |tag: u16, kind: u16, count: u32, value: u32| {
        let mut bytes = [tag.to_le_bytes(), kind.to_le_bytes()].concat();
        bytes.extend([count.to_le_bytes(), value.to_le_bytes()].concat());
        bytes
    };
    let entries = [
        entry(256, 3, 1, 2),
        entry(257, 3, 1, 1),
        entry(258, 3, 2, 8 | 8 << 16),
        entry(259, 3, 1, 1),
        entry(262, 3, 1, 1),
        entry(273, 4, 1, 8),
        entry(277, 3, 1, 2),
        entry(278, 3, 1, 1),
        entry(279, 4, 1, 4),
        entry(338, 3, 1, 2),
    ];
    let mut file = b"II*\0".to_vec();
    file.extend(12_u32.to_le_bytes());
    file.extend([50, 128, 90, 0]);
    file.extend((entries.len() as u16).to_le_bytes());
    entries.iter().for_each(|entry| file.extend(entry));
    file.extend(0_u32.to_le_bytes());
    let mut rgb = Vec::new();
    let outcome = decode_rgb(&file, &mut rgb);
    assert!(matches!(outcome, Ok((2, 1))));
    assert_eq!(rgb, [50, 50, 50, 90, 90, 90]);
}

#[test]
fn every_color_type_becomes_rgb() {
    let plane = |value: u8| vec![value; 16];
    let rgb = |r, g, b| [plane(r), plane(g), plane(b)].concat();
    let png = |image: DynamicImage| pixels(&encode(image, ImageFormat::Png), 4);
    assert_eq!(
        png(RgbImage::from_pixel(9, 5, Rgb([10, 20, 30])).into()),
        rgb(10, 20, 30)
    );
    assert_eq!(
        png(GrayImage::from_pixel(9, 5, Luma([77])).into()),
        rgb(77, 77, 77)
    );
    let rgba: ImageBuffer<_, Vec<u8>> = ImageBuffer::from_pixel(9, 5, Rgba([10, 20, 30, 0]));
    assert_eq!(
        png(rgba.into()),
        rgb(10, 20, 30),
        "transparency is dropped, not blended"
    );
    let la: ImageBuffer<_, Vec<u8>> = ImageBuffer::from_pixel(9, 5, LumaA([50, 128]));
    assert_eq!(png(la.into()), rgb(50, 50, 50));
    let deep: ImageBuffer<_, Vec<u16>> = ImageBuffer::from_pixel(9, 5, Rgb([257, 514, 65535]));
    assert_eq!(png(deep.into()), rgb(1, 2, 255));
    // Pillow clips 16-bit gray values.
    for (value, clipped) in [(77, 77), (255, 255), (514, 255)] {
        let grey: ImageBuffer<_, Vec<u16>> = ImageBuffer::from_pixel(9, 5, Luma([value]));
        assert_eq!(png(grey.into()), rgb(clipped, clipped, clipped));
    }
    let grey = encode(GrayImage::from_pixel(16, 16, Luma([77])), ImageFormat::Jpeg);
    assert_eq!(pixels(&grey, 4), rgb(77, 77, 77));
}

#[test]
fn pictures_of_the_target_size_keep_their_pixels() {
    let image = gradient(6, 6);
    let tensor = pixels(&encode(image.clone(), ImageFormat::Png), 6);
    for (x, y, pixel) in image.enumerate_pixels() {
        for (channel, &value) in pixel.0.iter().enumerate() {
            assert_eq!(tensor[channel * 36 + (y * 6 + x) as usize], value);
        }
    }
}

#[test]
fn shrinking_averages_the_pixels() {
    // Black and white columns. Without antialiasing the result would be black or white.
    let stripes = RgbImage::from_fn(64, 64, |x, _| Rgb([if x % 2 == 0 { 0 } else { 255 }; 3]));
    let small = pixels(&encode(stripes, ImageFormat::Png), 8);
    assert!(small.iter().all(|v| (120..=136).contains(v)), "{small:?}");
}

#[test]
fn each_kind_of_bad_file_has_its_own_error() {
    let jpeg = encode(gradient(64, 48), ImageFormat::Jpeg);
    let png = encode(gradient(64, 48), ImageFormat::Png);
    assert_eq!(fault(b""), PictureError::Empty);
    assert_eq!(fault(b"hello, this is text"), PictureError::Unidentified);
    assert_eq!(
        fault(b"GIF89a\x01\0\x01\0"),
        PictureError::Undecodable("GIF")
    );
    assert_eq!(
        fault(b"\0\0\0\x18ftypheic"),
        PictureError::Undecodable("HEIC")
    );
    assert_eq!(fault(b"RIFF\x10\0\0\0WEBPVP8 "), PictureError::Truncated);
    assert_eq!(fault(&jpeg[..jpeg.len() / 2]), PictureError::Truncated);
    assert!(matches!(
        fault(&png[..png.len() / 2]),
        PictureError::Truncated | PictureError::Damaged(_)
    ));
    let error = fault(&jpeg[..jpeg.len() / 2]).into_sample_error("a/b.jpg");
    assert_eq!(error.kind, "OSError");
    assert!(error.message.contains("a/b.jpg") && error.message.contains("Copy it again"));
    // Bytes after the end do no harm.
    let padded = [jpeg.as_slice(), &[0; 100]].concat();
    assert!(decode(&padded, 8, &mut SampleClock::off()).is_ok());
}

#[test]
fn decompression_bombs_are_refused() {
    // This PNG header declares 60000×60000 pixels.
    let mut png = encode(gradient(4, 4), ImageFormat::Png);
    let mut header = b"IHDR".to_vec();
    header.extend(60_000u32.to_be_bytes());
    header.extend(60_000u32.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    png[12..29].copy_from_slice(&header);
    let mut crc = flate2::Crc::new();
    crc.update(&header);
    png[29..33].copy_from_slice(&crc.sum().to_be_bytes());
    assert_eq!(fault(&png), PictureError::TooLarge(60_000, 60_000));
    let error = PictureError::TooLarge(60_000, 60_000).into_sample_error("x.png");
    assert_eq!(error.kind, "DecompressionBombError");
}

#[test]
fn a_compressed_color_profile_is_size_limited() {
    use std::io::Write as _;
    // This color profile has two gigabytes of zeros, compressed to two megabytes.
    let mut profile = b"profile\0\0".to_vec();
    let mut pack = flate2::write::ZlibEncoder::new(&mut profile, flate2::Compression::best());
    let zeros = vec![0; 1 << 20];
    (0..2048).for_each(|_| pack.write_all(&zeros).unwrap());
    pack.finish().unwrap();
    let mut chunk = (profile.len() as u32).to_be_bytes().to_vec();
    chunk.extend(b"iCCP");
    chunk.extend(&profile);
    let mut crc = flate2::Crc::new();
    crc.update(&chunk[4..]);
    chunk.extend(crc.sum().to_be_bytes());
    let mut png = encode(gradient(4, 4), ImageFormat::Png);
    png.splice(33..33, chunk);
    // The result does not matter, only that the profile's memory is never allocated.
    let _ = decode(&png, 8, &mut SampleClock::off());
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|kb| kb.split_whitespace().next()?.parse::<u64>().ok());
        assert!(peak.is_some_and(|kb| kb < 1_600_000), "{peak:?} kB");
    }
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_decoded() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe.jpg"), kind, mode, 0).unwrap();
    std::os::unix::fs::symlink("/dev/zero", at("zero.jpg")).unwrap();
    std::fs::create_dir(at("folder.jpg")).unwrap();
    std::fs::File::create(at("huge.png"))
        .unwrap()
        .set_len(1 << 42)
        .unwrap();
    let start = Instant::now();
    for (name, says) in [
        ("pipe.jpg", "is a pipe, not a regular file"),
        ("zero.jpg", "is a device, not a regular file"),
        ("folder.jpg", "is a folder, not a regular file"),
        ("huge.png", "has more than 1073741824 bytes, the limit"),
        ("none.png", "none.png: not found. Check the path."),
    ] {
        let error = load(&at(name), 8, &mut SampleClock::off()).unwrap_err();
        assert_eq!(error.kind, "OSError");
        assert!(
            error.message.contains(name) && error.message.contains(says),
            "{error}"
        );
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn damaged_pictures_never_panic(
        jpeg: bool,
        cut in 0.0f64..1.2,
        flips in prop::collection::vec((0.0f64..1.0, 1u8..), 0..6),
    ) {
        let format = if jpeg { ImageFormat::Jpeg } else { ImageFormat::Png };
        let mut bytes = encode(gradient(40, 30), format);
        for (at, mask) in flips {
            let position = (at * bytes.len() as f64) as usize;
            bytes[position] ^= mask;
        }
        bytes.truncate((cut * bytes.len() as f64) as usize);
        match decode_rgb(&bytes, &mut Vec::new()) {
            // `decode_rgb` is called directly, because `decode` would catch a panic.
            Ok((width, height)) => prop_assert!(width > 0 && height > 0),
            Err(fault) => prop_assert!(!fault.into_sample_error("x").message.is_empty()),
        }
        let _ = decode(&bytes, 8, &mut SampleClock::off());
    }
}
