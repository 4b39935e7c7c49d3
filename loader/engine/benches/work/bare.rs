//! Minimum work of any loader of these data: copying rows, decoding images.
//!
//! It runs without a loader, in threads that do not wait for each other, and so shows the limit of the host.

use std::hint::black_box;
use std::io::Cursor;
use std::path::Path;
use std::time::Instant;

use image::ImageDecoder as _;
use image::codecs::jpeg::JpegDecoder;
use loadscope_engine::LoaderError;

use super::data::{self, PICTURE, Pictures, WINDOW};
use super::samplers;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Batches in flight per thread.
const UNDER_WAY: usize = 2;

/// Names of the work.
pub const NAMES: [&str; 3] = ["w1-copy", "w3-decode", "w6-copy"];

/// Returns the items per second of one of [`NAMES`], in the order of a shuffled epoch. `part` reduces the number of items.
pub fn rate(
    name: &str,
    folder: &Path,
    part: impl Fn(usize) -> usize,
    threads: usize,
    seconds: f64,
) -> Result<f64, Failure> {
    match name {
        "w1-copy" => {
            let count = part(4096);
            let pictures = Pictures::new(count);
            let row = |index| pictures.row(index);
            copied(count, [PICTURE, 64], threads, seconds, row)
        }
        "w6-copy" => {
            let tokens = data::tokens(&folder.join("tokens.u16"))?;
            let row = |index| tokens.window(index);
            copied(part(262_144), [WINDOW * 2, 32], threads, seconds, row)
        }
        _ => decoded(&folder.join("pictures"), threads, seconds),
    }
}

/// Measures rows of `width` bytes per second, copied into batches of `batch_size`.
fn copied<'a>(
    count: usize,
    [width, batch_size]: [usize; 2],
    threads: usize,
    seconds: f64,
    row: impl Fn(usize) -> Option<&'a [u8]> + Sync,
) -> Result<f64, Failure> {
    let order = samplers::random(count)?.collect::<Result<Vec<usize>, LoaderError>>()?;
    let share = order.len().div_ceil(threads.max(1));
    together(order.chunks(share), seconds, |rows| {
        let mut batches = vec![vec![0; width * batch_size]; UNDER_WAY];
        let row = &row;
        move || {
            for (at, rows) in rows.chunks(batch_size).enumerate() {
                let Some(batch) = batches.get_mut(at % UNDER_WAY) else {
                    continue;
                };
                for (place, &index) in batch.chunks_exact_mut(width).zip(rows) {
                    place.copy_from_slice(row(index).ok_or("a row is missing")?);
                }
                black_box(batch);
            }
            Ok(rows.len())
        }
    })
}

/// Measures decoded images of w3 per second. The results are dropped.
fn decoded(root: &Path, threads: usize, seconds: f64) -> Result<f64, Failure> {
    let mut files = Vec::new();
    for class in std::fs::read_dir(root)? {
        for file in std::fs::read_dir(class?.path())? {
            files.push(std::fs::read(file?.path())?);
        }
    }
    let share = files.len().div_ceil(threads.max(1));
    together(files.chunks(share), seconds, |files| {
        let mut pixels = Vec::new();
        move || {
            for file in files {
                let decoder = JpegDecoder::new(Cursor::new(file))?;
                pixels.resize(usize::try_from(decoder.total_bytes())?, 0);
                decoder.read_image(&mut pixels)?;
                black_box(&mut pixels);
            }
            Ok(files.len())
        }
    })
}

/// Returns the items per second of all threads together. Each repeats its share, and the first time does not count.
fn together<'a, T: 'a + ?Sized + Sync, W>(
    shares: impl Iterator<Item = &'a T>,
    seconds: f64,
    make: impl Fn(&'a T) -> W + Sync,
) -> Result<f64, Failure>
where
    W: FnMut() -> Result<usize, Failure>,
{
    let one = |share| -> Result<f64, Failure> {
        let mut work = make(share);
        work()?;
        let (start, mut items) = (Instant::now(), 0);
        while start.elapsed().as_secs_f64() < seconds {
            items += work()?;
        }
        Ok(items as f64 / start.elapsed().as_secs_f64())
    };
    std::thread::scope(|scope| {
        let one = &one;
        let threads: Vec<_> = shares
            .map(|share| scope.spawn(move || one(share)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a thread panicked")?)
            .sum()
    })
}
