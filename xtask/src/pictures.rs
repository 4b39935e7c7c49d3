//! Lossless compression of the images of the tests and the README. Small images matter, because each clone contains them.

use std::collections::HashMap;
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use png::{BitDepth, ColorType, Compression, Filter, Transformations};

/// Folders of the images.
const FOLDERS: [&str; 2] = ["tests/snapshots", "screenshots"];

/// Endings of files that a failed test leaves there.
const LEFT: [&str; 3] = [".new.png", ".diff.png", ".old.png"];

/// Rewrites each image that can be smaller, and prints the total sizes.
pub fn shrink(workspace: &Path) -> Result<u8> {
    let (mut before, mut after, mut changed) = (0, 0, 0);
    for path in pictures(workspace)? {
        let old = fs::read(&path).with_context(|| path.display().to_string())?;
        let smaller = smaller(&old)
            .with_context(|| format!("{} is no picture of a test. Remove it", path.display()))?;
        before += old.len();
        after += smaller.as_ref().map_or(old.len(), Vec::len);
        if let Some(new) = smaller {
            fs::write(&path, new).with_context(|| path.display().to_string())?;
            changed += 1;
        }
    }
    println!(
        "{changed} pictures are smaller now: {:.1} MB of all, {:.1} MB before.",
        megabytes(after),
        megabytes(before)
    );
    Ok(0)
}

fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn pictures(workspace: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        let folder = workspace.join(folder);
        let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.to_string_lossy();
            if name.ends_with(".png") && !LEFT.iter().any(|end| name.ends_with(end)) {
                paths.push(path);
            }
        }
    }
    paths.sort();
    Ok(paths)
}

/// Decoded image, as RGBA pixels.
#[derive(Debug, PartialEq)]
struct Picture {
    width: u32,
    height: u32,
    pixels: Vec<[u8; 4]>,
}

/// Encoded pixels.
struct Written {
    color: ColorType,
    bytes: Vec<u8>,
    /// Colors and opacities of the palette, if pixels are indices.
    palette: Option<(Vec<u8>, Vec<u8>)>,
}

/// Returns the same image in fewer bytes, or `None` if it cannot be smaller.
fn smaller(png: &[u8]) -> Result<Option<Vec<u8>>> {
    let picture = read(png)?;
    let written = written(&picture);
    let mut best: Option<Vec<u8>> = None;
    // Text and flat colors compress best without a filter, photographs with prediction from neighboring pixels.
    for filter in [Filter::NoFilter, Filter::Adaptive] {
        let new = write(&picture, &written, filter)?;
        if new.len() < best.as_ref().map_or(png.len(), Vec::len) {
            best = Some(new);
        }
    }
    if let Some(new) = &best {
        ensure!(read(new)? == picture, "a pixel would change");
    }
    Ok(best)
}

fn read(png: &[u8]) -> Result<Picture> {
    let mut decoder = png::Decoder::new(Cursor::new(png));
    decoder.set_transformations(Transformations::normalize_to_color8() | Transformations::ALPHA);
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().context("it is too large")?;
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes)?;
    ensure!(info.color_type == ColorType::Rgba, "it has no colours");
    let (pixels, _) = bytes.as_chunks();
    Ok(Picture {
        width: info.width,
        height: info.height,
        pixels: pixels.to_vec(),
    })
}

/// Encodes the pixels with the fewest bytes per pixel.
fn written(picture: &Picture) -> Written {
    let mut colors = Vec::new();
    let mut places: HashMap<[u8; 4], u8> = HashMap::new();
    for pixel in &picture.pixels {
        if places.contains_key(pixel) {
            continue;
        }
        let Ok(place) = u8::try_from(colors.len()) else {
            return in_full(picture);
        };
        places.insert(*pixel, place);
        colors.push(*pixel);
    }
    Written {
        color: ColorType::Indexed,
        bytes: picture.pixels.iter().map(|pixel| places[pixel]).collect(),
        palette: Some((
            colors
                .iter()
                .flat_map(|[r, g, b, _]| [*r, *g, *b])
                .collect(),
            colors.iter().map(|[.., a]| *a).collect(),
        )),
    }
}

/// Encodes an image with too many colors for a palette.
fn in_full(picture: &Picture) -> Written {
    let is_opaque = picture.pixels.iter().all(|[.., a]| *a == u8::MAX);
    let (color, bytes) = match is_opaque {
        true => {
            let colors = picture.pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]);
            (ColorType::Rgb, colors.collect())
        }
        false => (ColorType::Rgba, picture.pixels.as_flattened().to_vec()),
    };
    Written {
        color,
        bytes,
        palette: None,
    }
}

fn write(picture: &Picture, written: &Written, filter: Filter) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, picture.width, picture.height);
    encoder.set_color(written.color);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::High);
    encoder.set_filter(filter);
    if let Some((colors, opacity)) = &written.palette {
        encoder.set_palette(colors.clone());
        if opacity.iter().any(|a| *a != u8::MAX) {
            encoder.set_trns(opacity.clone());
        }
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&written.bytes)?;
    writer.finish()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes an image like the tests of the window.
    fn plain(picture: &Picture) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, picture.width, picture.height);
        encoder.set_color(ColorType::Rgba);
        encoder.set_compression(Compression::Fast);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(picture.pixels.as_flattened())?;
        writer.finish()?;
        Ok(out)
    }

    fn drawn(color: impl Fn(u32) -> [u8; 4]) -> Picture {
        let (width, height) = (64, 48);
        Picture {
            width,
            height,
            pixels: (0..width * height).map(color).collect(),
        }
    }

    fn color_type(png: &[u8]) -> Result<ColorType> {
        let reader = png::Decoder::new(Cursor::new(png)).read_info()?;
        Ok(reader.info().color_type)
    }

    #[test]
    fn pictures_shrink_and_keep_their_pixels() -> Result<()> {
        let few = |k: u32| [(k % 5) as u8, (k % 3) as u8, 9, 255];
        let few_clear = |k: u32| [(k % 5) as u8, 7, 9, (k % 2) as u8 * 255];
        let many = |k: u32| [(k / 64) as u8, (k % 64) as u8, 3, 255];
        let many_clear = |k: u32| [(k / 64) as u8, (k % 64) as u8, 3, (k / 7) as u8];
        let all_256 = |k: u32| [(k % 256) as u8, 0, 0, 255];
        for (picture, color) in [
            (drawn(few), ColorType::Indexed),
            (drawn(few_clear), ColorType::Indexed),
            (drawn(all_256), ColorType::Indexed),
            (drawn(many), ColorType::Rgb),
            (drawn(many_clear), ColorType::Rgba),
        ] {
            let old = plain(&picture)?;
            let new = smaller(&old)?.context("there is a better way")?;
            assert!(new.len() < old.len(), "{} of {}", new.len(), old.len());
            assert_eq!(color_type(&new)?, color);
            assert_eq!(read(&new)?, picture);
            assert_eq!(smaller(&new)?, None, "once is enough");
        }
        Ok(())
    }

    #[test]
    fn files_left_by_failed_tests_are_not_changed() -> Result<()> {
        let home = tempfile::tempdir()?;
        for folder in FOLDERS {
            fs::create_dir_all(home.path().join(folder))?;
        }
        let picture = plain(&drawn(|k| [k as u8, 0, 0, 255]))?;
        let [kept, left] =
            ["a.png", "a.diff.png"].map(|name| home.path().join(FOLDERS[0]).join(name));
        fs::write(&kept, &picture)?;
        fs::write(&left, &picture)?;
        assert_eq!(shrink(home.path())?, 0);
        assert!(fs::read(kept)?.len() < picture.len());
        assert_eq!(fs::read(left)?, picture);
        Ok(())
    }

    #[test]
    fn an_invalid_picture_is_reported_with_its_path() -> Result<()> {
        let home = tempfile::tempdir()?;
        for folder in FOLDERS {
            fs::create_dir_all(home.path().join(folder))?;
        }
        fs::write(
            home.path().join(FOLDERS[1]).join("broken.png"),
            "no picture",
        )?;
        let error = shrink(home.path()).err().context("it is broken")?;
        assert!(error.to_string().contains("broken.png"), "{error}");
        Ok(())
    }
}
