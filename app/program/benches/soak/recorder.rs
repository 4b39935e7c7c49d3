//! Billions of events through a recorder with a limit: days of training in half an hour.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use loadscope_files::Existing;
use loadscope_session::{Limited, Limits, NewLimited};
use loadscope_trace::{Event, Nanos, Sorter};

use crate::compare::Judged;
use crate::counts::{LONG, SLOWEST};
use crate::job::{Clock, Job};
use crate::output::{self, Progress};
use crate::recording_counts::RecordingCounts;
use crate::reference::ReferenceCounts;
use crate::size::size;
use crate::training::Training;

/// Name of a recording.
pub const NAME: &str = "run.jsonl.zst";

/// Maximum size of a recording, bytes, as with `--max-size 200MB`.
pub const MOST: u64 = 200_000_000;

/// Number of events per write.
const CHUNK: usize = 256;

/// Number of events between two checks of the file sizes.
const LOOK: u64 = 20_000;

/// Interval between flushes, as in a session.
const FLUSH: Duration = Duration::from_millis(25);

/// Sorting window for late events, as for the events of threads.
const STRAGGLERS: Nanos = Nanos(5_000_000);

const HOUR: i64 = 3_600_000_000_000;

/// Creates a recording as with `--last 30m --max-size 200MB`.
///
/// # Errors
/// If the recording cannot be created.
pub fn create(path: &Path) -> Result<NewLimited> {
    let limits = Limits {
        last: Some(Nanos(HOUR / 2)),
        max_size: MOST,
        long_wait: LONG,
        keep_slowest: SLOWEST as u32,
    };
    let new = NewLimited::create(path, Existing::Keep, limits);
    new.with_context(|| format!("the recording {} cannot be made", path.display()))
}

/// Records the events, and compares the recording with the reference counts.
///
/// # Errors
/// If something cannot be written or read.
pub fn run(job: &Job) -> Result<()> {
    let path = job.folder.join(NAME);
    output::recording(&job.folder, MOST);
    let mut recorder = Recorder {
        log: Limited::new(create(&path)?),
        counted: ReferenceCounts::default(),
        chunk: Vec::with_capacity(CHUNK),
        flushed: Instant::now(),
        largest: 0,
    };
    let mut times = Times::new(job);
    let mut training = Training::new(job.seed, job.events);
    let mut progress = Progress::new();
    for made in 1..=job.events {
        times.pass(training.next(), &mut recorder)?;
        if made.is_multiple_of(LOOK) {
            recorder.largest = recorder.largest.max(size(&job.folder)?);
            progress.done(made);
        }
    }
    for event in training.end() {
        times.pass(event, &mut recorder)?;
    }
    times.finish(&mut recorder)?;
    let (counted, largest) = recorder.finish(&job.folder)?;
    output::done(job.events);
    output::checking();
    times.print_rows();
    let days = counted.minutes.len() as f64 / 60.0 / 24.0;
    output::row(
        "the training, on its own clock",
        &format!("{days:.2} days"),
        None,
    );
    let text = format!(
        "{:.1} MB of {:.0} MB",
        largest as f64 / 1e6,
        MOST as f64 / 1e6
    );
    let what = "all files together, looked at every 20,000 events";
    output::row(what, &text, Some(largest <= MOST));
    let found = RecordingCounts::read(&path)?;
    let mut judged = Judged::default();
    judged.take(&found, &counted);
    judged.print_rows();
    Ok(())
}

/// Recorder with reference counts.
struct Recorder {
    log: Limited,
    counted: ReferenceCounts,
    chunk: Vec<Event>,
    flushed: Instant,
    largest: u64,
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

    /// Returns the reference counts, and the maximum size in bytes.
    fn finish(mut self, folder: &Path) -> Result<(ReferenceCounts, u64)> {
        self.write()?;
        self.log.finish().map_err(anyhow::Error::msg)?;
        Ok((self.counted, self.largest.max(size(folder)?)))
    }
}

/// Clock of the events.
struct Times {
    clock: Clock,
    sorter: Sorter,
    noise: u64,
    /// Number of events until the clock is set again.
    left: u64,
    every: u64,
    by: i64,
    forwards: u64,
    back: u64,
}

impl Times {
    fn new(job: &Job) -> Self {
        let every = (job.events / 400).max(5_000);
        Self {
            clock: job.clock,
            sorter: Sorter::new(STRAGGLERS),
            noise: job.seed | 1,
            left: every,
            every,
            by: 0,
            forwards: 0,
            back: 0,
        }
    }

    /// Passes an event on with the time of this clock.
    fn pass(&mut self, mut event: Event, to: &mut Recorder) -> Result<()> {
        if self.clock == Clock::Steady {
            return to.take(event);
        }
        self.left -= 1;
        if self.left == 0 {
            self.left = self.every;
            self.set(event.at);
        }
        event.shift(Nanos(self.by));
        if self.clock == Clock::Raw {
            return to.take(event);
        }
        self.sorter.push(event);
        while let Some(event) = self.sorter.pop(None) {
            to.take(event)?;
        }
        Ok(())
    }

    /// Sets the clock up to six hours forwards or three hours back, but not before the start.
    fn set(&mut self, now: Nanos) {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        let by = (self.noise >> 11) as i64 % (9 * HOUR) - 3 * HOUR;
        let by = by.max(-(now.0 + self.by));
        match by < 0 {
            true => self.back += 1,
            false => self.forwards += 1,
        }
        self.by += by;
    }

    fn finish(&mut self, to: &mut Recorder) -> Result<()> {
        while let Some(event) = self.sorter.flush() {
            to.take(event)?;
        }
        Ok(())
    }

    fn print_rows(&self) {
        if self.clock != Clock::Steady {
            let text = format!(
                "{} forwards by up to 6 h, {} back by up to 3 h; {} events came late",
                self.forwards,
                self.back,
                output::count(self.sorter.late())
            );
            output::row("the clock of the events was set", &text, None);
        }
    }
}
