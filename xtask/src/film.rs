//! Animated images of the window for the README. A test draws the frames, and this module encodes them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use webp_animation::{Encoder, EncoderOptions, EncodingConfig, EncodingType};

use crate::setup::Ready;
use crate::steps::{cargo_test, finish, prepare_pictures};

/// Time between two frames, ms.
const BETWEEN: i32 = 1000 / 12;
/// Maximum size of an image, bytes. Larger ones delay the pages that show them.
const LARGEST: usize = 2_000_000;
/// Environment variable with the folder for the frames.
const FOLDER: &str = "LOADSCOPE_FILM";

/// Draws the frames, and writes `screenshots/NAME.webp` for each folder of frames.
pub fn film(ready: &Ready, workspace: &Path) -> Result<u8> {
    let frames = tempfile::tempdir().context("no room for the frames")?;
    let mut command = cargo_test(ready, &["--workspace", "--exclude", "xtask"])?;
    command.args([
        "--test",
        "all",
        "--",
        "--ignored",
        "--exact",
        "film::readme_films_are_drawn",
    ]);
    command.env(FOLDER, frames.path());
    prepare_pictures(&mut command, ready)?;
    let code = finish(&mut command)?;
    if code != 0 {
        return Ok(code);
    }
    let mut names: Vec<PathBuf> = entries(frames.path())?;
    names.sort();
    ensure!(!names.is_empty(), "the test drew no frames");
    for folder in names {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let path = workspace.join("screenshots").join(format!("{name}.webp"));
        let (bytes, count) = animated(&folder)?;
        println!(
            "{}: {count} frames, {:.0} kB",
            path.display(),
            bytes.len() as f64 / 1e3
        );
        if bytes.len() > LARGEST {
            bail!(
                "{} is larger than 2 MB: make its film shorter",
                path.display()
            );
        }
        fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(0)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    Ok(entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?)
}

/// Encodes the frames of a folder, in the order of their names. Lossless encoding keeps text sharp, and unchanged areas are free.
fn animated(folder: &Path) -> Result<(Vec<u8>, usize)> {
    let mut paths = entries(folder)?;
    paths.sort();
    let mut encoder: Option<(Encoder, (u32, u32))> = None;
    for (k, path) in paths.iter().enumerate() {
        let (pixels, size) = frame(path)?;
        let (encoder, first) = match &mut encoder {
            Some(made) => made,
            none => none.insert((begin(size)?, size)),
        };
        ensure!(*first == size, "{} has another size", path.display());
        let time = i32::try_from(k).unwrap_or(i32::MAX).saturating_mul(BETWEEN);
        encoder
            .add_frame(&pixels, time)
            .map_err(|e| anyhow::anyhow!("{}: {e:?}", path.display()))?;
    }
    let (encoder, _) = encoder.context("a film without frames")?;
    let end = i32::try_from(paths.len())
        .unwrap_or(i32::MAX)
        .saturating_mul(BETWEEN);
    // The last frame is shown for 2 s before the repetition.
    let film = encoder
        .finalize(end.saturating_add(2_000))
        .map_err(|e| anyhow::anyhow!("{}: {e:?}", folder.display()))?;
    Ok((film.to_vec(), paths.len()))
}

fn begin(size: (u32, u32)) -> Result<Encoder> {
    let options = EncoderOptions {
        minimize_size: true,
        encoding_config: Some(EncodingConfig {
            encoding_type: EncodingType::Lossless,
            quality: 60.0,
            method: 3,
        }),
        ..EncoderOptions::default()
    };
    Encoder::new_with_options(size, options).map_err(|e| anyhow::anyhow!("no encoder: {e:?}"))
}

/// Reads a PNG image as RGBA, with its size.
fn frame(path: &Path) -> Result<(Vec<u8>, (u32, u32))> {
    let file = fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut decoder = png::Decoder::new(std::io::BufReader::new(file));
    decoder.set_transformations(png::Transformations::ALPHA | png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().context("a picture too large")?;
    let mut pixels = vec![0; size];
    let info = reader.next_frame(&mut pixels)?;
    ensure!(
        info.color_type == png::ColorType::Rgba,
        "{} is no coloured picture",
        path.display()
    );
    pixels.truncate(info.buffer_size());
    Ok((pixels, (info.width, info.height)))
}
