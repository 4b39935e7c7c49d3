//! One pass over the rows of a format.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use loadscope_formats::{Opened, Rows, Share, StreamSource, Untimed};

use super::made::Format;

/// Rows per batch.
const BATCH: usize = 64;

/// Measurements. Memory is the anonymous resident memory of the process, MB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub rows: usize,
    /// Seconds until the first batch, including the opening.
    pub first: f64,
    /// Memory after the first batch, after a quarter of the rows and at the end.
    pub memory: [f64; 3],
}

/// Opens the data in `folder` and reads all samples once, by index in distant jumps or as a stream.
pub fn measure(format: &Format, folder: &Path) -> Result<Measured, Box<dyn Error>> {
    let start = Instant::now();
    let mut measured = Measured::default();
    match format.open(folder)? {
        Opened::Rows(rows) => by_index(&*rows, start, &mut measured)?,
        Opened::Stream(stream) => streamed(&*stream, start, &mut measured)?,
    }
    Ok(measured)
}

fn by_index(
    rows: &dyn Rows,
    start: Instant,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    measured.rows = rows.len();
    // The step has no common divisor with the number of batches. Each batch is read once, in distant jumps.
    let batches = rows.len().div_ceil(BATCH);
    let step = coprime(batches * 61 / 100, batches);
    for at in 0..batches {
        let batch = (at * step) % batches;
        let indices: Vec<usize> = (batch * BATCH..rows.len().min(batch * BATCH + BATCH)).collect();
        match rows.rows(&indices, &mut Untimed) {
            Some(together) => _ = black_box(together?),
            None => {
                for &index in &indices {
                    black_box(rows.row(index, &mut Untimed)?);
                }
            }
        }
        note(at, batches, start, measured);
    }
    Ok(())
}

fn streamed(
    source: &dyn StreamSource,
    start: Instant,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    let mut stream = source.open(&Share::default())?;
    let known = source.len();
    while let Some(sample) = stream.next(&mut Untimed) {
        black_box(sample?);
        measured.rows += 1;
        if measured.rows.is_multiple_of(BATCH) {
            let batches = known.map_or(usize::MAX, |len| len / BATCH);
            note(measured.rows / BATCH - 1, batches, start, measured);
        }
    }
    measured.memory[2] = memory();
    Ok(())
}

/// Records the time and the memory after the first batch, a quarter and the last batch.
fn note(at: usize, batches: usize, start: Instant, measured: &mut Measured) {
    if at == 0 {
        measured.first = start.elapsed().as_secs_f64();
        measured.memory = [memory(); 3];
    }
    if at == batches / 4 {
        measured.memory[1] = memory();
    }
    if at + 1 == batches {
        measured.memory[2] = memory();
    }
}

fn coprime(mut step: usize, of: usize) -> usize {
    fn divisor(a: usize, b: usize) -> usize {
        if b == 0 { a } else { divisor(b, a % b) }
    }
    step = step.max(1);
    while divisor(step, of) != 1 {
        step += 1;
    }
    step
}

/// Returns the anonymous resident memory of this process, MB, or 0 if the system does not report it.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    number.unwrap_or_default() / 1024.0
}
