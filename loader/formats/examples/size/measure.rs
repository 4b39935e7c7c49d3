//! One pass over the rows of a format.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use loadscope_formats::{Rows, Share, StreamSource, Untimed};

use super::made::{Format, Opened};

/// Rows of a batch.
const BATCH: usize = 64;

/// What was measured. Memory is that of the process which no file backs, in MB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub rows: usize,
    /// Seconds until the first batch, with opening.
    pub first: f64,
    /// Seconds of the whole epoch.
    pub epoch: f64,
    /// After the first batch, after a quarter of the rows, at the end.
    pub memory: [f64; 3],
}

impl Measured {
    pub fn json(&self) -> String {
        let [first, quarter, end] = self.memory;
        format!(
            "{{\"rows\": {}, \"first\": {}, \"epoch\": {}, \"memory\": [{first}, {quarter}, {end}]}}",
            self.rows, self.first, self.epoch
        )
    }
}

/// Opens the data in `folder` and reads them once, by index in an order that jumps, or as a stream.
pub fn measure(format: &Format, folder: &Path) -> Result<Measured, Box<dyn Error>> {
    let start = Instant::now();
    let mut measured = Measured::default();
    match (format.open)(folder)? {
        Opened::Rows(rows) => by_index(&*rows, start, &mut measured)?,
        Opened::Stream(stream) => streamed(&*stream, start, &mut measured)?,
    }
    measured.epoch = start.elapsed().as_secs_f64();
    Ok(measured)
}

fn by_index(
    rows: &dyn Rows,
    start: Instant,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    measured.rows = rows.len();
    // Batches from all over the data, each once: a step without a common divisor.
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
            // How many there are is not known: a quarter is what was read of 100,000 files.
            if known.is_none() && measured.rows / BATCH == 390 {
                measured.memory[1] = memory();
            }
        }
    }
    measured.memory[2] = memory();
    Ok(())
}

/// After which batches the time and the memory are taken.
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

/// What no file backs of this process' memory, MB; 0 where the system does not say.
fn memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    number.unwrap_or_default() / 1024.0
}
