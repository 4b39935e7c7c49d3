//! The embedded loader at full speed, recorded with a limit, as by `loadscope run --record --last 30m --max-size 200MB`. It is paused,
//! stepped and copied at random moments.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use crossbeam_channel::RecvTimeoutError;
use loadscope_session::{Record, Session, SessionEvent};
use loadscope_trace::{Compression, LogReader, LogWriter, RunOptions, count};

use crate::job::{Job, Noise};
use crate::recorder::{MOST, NAME, create};
use crate::reference::{Reference, compare};

/// Maximum number of batches per run, below the limit of the loader. Each run has a new loader and a new recording.
const BATCHES: u64 = 10_000_000;
/// Batches per epoch.
const OF_EPOCH: u64 = 500_000;
/// Samples per batch.
const SAMPLES: u64 = 2;
/// Approximate number of events per batch.
const OF_BATCH: u64 = 7;
/// Minimum and maximum interval between copies of the growing recording. The interval grows with the run.
const COPY: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(300));
/// Polling interval for updates and due actions.
const LOOK: Duration = Duration::from_millis(20);
/// Timeout for the loader to stop.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs loaders one after another, and reads their recordings.
///
/// # Errors
/// If something cannot be started, written or read.
pub fn run(job: &Job) -> Result<()> {
    let mut all: Vec<(PathBuf, Reference)> = Vec::new();
    let mut done = Done::default();
    let mut noise = Noise::of(job.seed);
    while done.events < job.events {
        let folder = job.folder.join(format!("run-{}", all.len()));
        fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
        job.monitor.recording(&folder, MOST);
        let mut one = One::start(&folder, job.events - done.events)?;
        one.follow(job, &mut noise, &mut done)?;
        all.push((folder.join(NAME), one.counted));
    }
    job.monitor.finish();
    let text = format!(
        "{} runs, {} pauses, {} steps, {} copies of the growing recording by another process",
        all.len(),
        count(done.pauses),
        count(done.steps),
        count(done.copies)
    );
    job.monitor.row("actions meanwhile", &text, None);
    compare(job.monitor, &all)
}

/// Counts of the performed actions.
#[derive(Default)]
struct Done {
    events: u64,
    pauses: u64,
    steps: u64,
    copies: u64,
}

/// Run in progress.
struct One {
    session: Session,
    folder: PathBuf,
    counted: Reference,
    /// Start of the pause, if it is paused.
    paused: Option<Instant>,
    /// Start of the next pause, or end of the current one.
    next: Instant,
    copy: Option<Child>,
    began: Instant,
    copied: Instant,
}

impl One {
    fn start(folder: &Path, events: u64) -> Result<Self> {
        let batches = (events / OF_BATCH * 5 / 4).clamp(OF_EPOCH, BATCHES);
        let options = RunOptions {
            // Some samples are slow, so that the trainer waits for them.
            dataset: format!(
                "synthetic:len={},cost_ms=0,every=100003:150,shape=4",
                OF_EPOCH * SAMPLES
            ),
            batch_size: Some(SAMPLES as usize),
            num_workers: 2,
            shuffle: true,
            epochs: u32::try_from(batches.div_ceil(OF_EPOCH)).unwrap_or(1),
            ..RunOptions::default()
        };
        let record = Record::Limited(create(&folder.join(NAME))?);
        let session = Session::start(&options, record, Arc::new(|| {}))?;
        let now = Instant::now();
        Ok(Self {
            session,
            folder: folder.to_owned(),
            counted: Reference::default(),
            paused: None,
            next: now + Duration::from_secs(1),
            copy: None,
            began: now,
            copied: now,
        })
    }

    /// Counts the events and interferes, until all events of the job have arrived.
    fn follow(&mut self, job: &Job, noise: &mut Noise, done: &mut Done) -> Result<()> {
        let mut stopped: Option<Instant> = None;
        loop {
            match self.session.events.recv_timeout(LOOK) {
                Ok(SessionEvent::Events(all)) => {
                    all.iter().for_each(|event| self.counted.apply(event));
                    done.events += all.len() as u64;
                }
                Ok(SessionEvent::Failed(text)) => bail!("{text}"),
                Ok(SessionEvent::Ended(Some(text))) => bail!("{text}"),
                Ok(SessionEvent::Ended(None)) => break,
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("the recorder has ended without a word")
                }
            }
            job.monitor.done(done.events);
            if stopped.is_some_and(|since| since.elapsed() > PATIENCE) {
                bail!("the engine does not stop");
            }
            if stopped.is_none() && done.events >= job.events {
                self.session.stop();
                stopped = Some(Instant::now());
            }
            if stopped.is_none() {
                self.interfere(noise, done);
                self.copy(done)?;
            }
        }
        self.end_copy()
    }

    /// Pauses, steps and resumes at random moments.
    fn interfere(&mut self, noise: &mut Noise, done: &mut Done) {
        let now = Instant::now();
        let between = |noise: &mut Noise, least: u64, most: u64| {
            Duration::from_millis(least + noise.below(most - least))
        };
        if now < self.next {
            if self.paused.is_some() && noise.below(4) == 0 {
                self.session.step();
                done.steps += 1;
            }
            return;
        }
        match self.paused.take() {
            Some(_) => {
                self.session.resume();
                self.next = now + between(noise, 200, 8_000);
            }
            None => {
                self.session.pause();
                done.pauses += 1;
                self.paused = Some(now);
                self.next = now + between(noise, 20, 400);
            }
        }
    }

    /// Starts a process that copies the growing recording. Only one runs at a time.
    fn copy(&mut self, done: &mut Done) -> Result<()> {
        let every = (self.began.elapsed() / 4).clamp(COPY.0, COPY.1);
        let is_over = self.copy.as_mut().map(Child::try_wait).transpose()?;
        if is_over == Some(None) || self.copied.elapsed() < every {
            return Ok(());
        }
        self.end_copy()?;
        self.copied = Instant::now();
        let copy = Command::new(std::env::current_exe()?)
            .arg("copy")
            .arg("--recording")
            .arg(self.folder.join(NAME))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        self.copy = Some(copy.context("this program cannot be started once more")?);
        done.copies += 1;
        Ok(())
    }

    fn end_copy(&mut self) -> Result<()> {
        match self.copy.take().map(|mut copy| copy.wait()).transpose()? {
            Some(ended) if !ended.success() => {
                bail!("copying the growing recording ended with {ended}")
            }
            _ => Ok(()),
        }
    }
}

/// Writes the readable part of a growing recording to a file, and removes that file.
///
/// # Errors
/// If the recording cannot be read or copied.
pub fn copy(recording: &Path) -> Result<()> {
    let mut to = tempfile::tempfile()?;
    copied(recording, &mut to)
        .with_context(|| format!("{} cannot be copied while it grows", recording.display()))
}

fn copied(from: &Path, to: &mut File) -> Result<()> {
    let reader = LogReader::open(from)?;
    let mut log = LogWriter::new(to, Compression::Zstd)?;
    for event in reader {
        log.write(&event?)?;
    }
    log.finish()?;
    Ok(())
}
