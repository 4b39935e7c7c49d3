//! A synthetic training of days through a recorder with a limit.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use loadscope_files::Existing;
use loadscope_session::{Limited, Limits, NewLimited};
use loadscope_trace::{Event, Nanos, Sorter, count};

use crate::job::{Job, Noise};
use crate::reference::{LONG, Reference, compare};
use crate::training::Training;

/// Name of a recording.
pub const NAME: &str = "run.jsonl.zst";

/// Maximum size of a recording, bytes, as with `--max-size 200MB`.
pub const MOST: u64 = 200_000_000;

/// Number of events per write.
const CHUNK: usize = 256;

/// Interval between flushes, as in a session.
const FLUSH: Duration = Duration::from_millis(25);

/// Sorting window for late events, as for the events of threads.
const STRAGGLERS: Nanos = Nanos(5_000_000);

const HOUR: i64 = 3_600_000_000_000;

/// Clock of the events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Clock that never jumps.
    Steady,
    /// Clock that is set forwards and back by hours. The events are sorted like those of the embedded loader.
    Sorted,
    /// The same clock, without sorting.
    Raw,
}

/// Creates a recording as with `--last 30m --max-size 200MB`.
///
/// # Errors
/// If the recording cannot be created.
pub fn create(path: &Path) -> Result<NewLimited> {
    let limits = Limits {
        last: Some(Nanos(HOUR / 2)),
        max_size: MOST,
        long_wait: LONG,
        keep_slowest: 100,
    };
    let new = NewLimited::create(path, Existing::Keep, limits);
    new.with_context(|| format!("the recording {} cannot be made", path.display()))
}

/// Records the events, and compares the recording with the reference counts.
///
/// # Errors
/// If something cannot be written or read.
pub fn run(job: &Job, clock: Clock) -> Result<()> {
    let path = job.folder.join(NAME);
    job.monitor.recording(job.folder, MOST);
    let mut recorder = Recorder {
        log: Limited::new(create(&path)?),
        counted: Reference::default(),
        chunk: Vec::with_capacity(CHUNK),
        flushed: Instant::now(),
    };
    let mut training = Training::new(job.seed, job.events);
    let mut sorter = Sorter::new(STRAGGLERS);
    let mut noise = Noise::of(job.seed);
    let every = (job.events / 400).max(5_000);
    let (mut by, mut set) = (0, 0_u64);
    for made in 1..=job.events {
        let mut event = training.next();
        if clock != Clock::Steady && made.is_multiple_of(every) {
            // The clock is set up to six hours forwards or three hours back, but not before the start.
            let random = noise.below(9 * HOUR as u64) as i64 - 3 * HOUR;
            by += random.max(-(event.at.0 + by));
            set += 1;
        }
        event.shift(Nanos(by));
        match clock {
            Clock::Sorted => {
                sorter.push(event);
                while let Some(event) = sorter.pop(None) {
                    recorder.take(event)?;
                }
            }
            Clock::Steady | Clock::Raw => recorder.take(event)?,
        }
        if made.is_multiple_of(CHUNK as u64) {
            job.monitor.done(made);
        }
    }
    while let Some(event) = sorter.flush() {
        recorder.take(event)?;
    }
    for mut event in training.end() {
        event.shift(Nanos(by));
        recorder.take(event)?;
    }
    recorder.write()?;
    recorder.log.finish().map_err(anyhow::Error::msg)?;
    job.monitor.finish();
    if clock != Clock::Steady {
        let text = format!("{set} times, {} events came late", count(sorter.late()));
        job.monitor
            .row("the clock of the events was set", &text, None);
    }
    compare(job.monitor, &[(path, recorder.counted)])
}

/// Recorder with reference counts.
struct Recorder {
    log: Limited,
    counted: Reference,
    chunk: Vec<Event>,
    flushed: Instant,
}

impl Recorder {
    fn take(&mut self, event: Event) -> Result<()> {
        self.counted.apply(&event);
        self.chunk.push(event);
        match self.chunk.len() < CHUNK {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn write(&mut self) -> Result<()> {
        self.log.write(&self.chunk)?;
        self.chunk.clear();
        if self.flushed.elapsed() >= FLUSH {
            self.flushed = Instant::now();
            self.log.flush()?;
        }
        Ok(())
    }
}
