//! Samples of this process, four per second, and the rows of the table.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use loadscope_trace::count;

const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of the progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// Timeout without progress.
const STALL_TIMEOUT: Duration = Duration::from_secs(900);
/// Minimum number of samples of the second tenth that are judged. Earlier, the engine still grows.
const LEAST: u64 = 20;

const MB: u64 = 1_000_000;

/// Returns the allowed maximum after the second tenth of the events, from the maximum in it.
type Allowed = fn(u64) -> u64;

/// Sampled quantities. A reader of a limited recording has all of its parts open. A calculation has several threads.
const QUANTITIES: [(&str, u64, Allowed); 3] = [
    ("resident memory, MB", MB, |before| {
        before + before / 10 + 16 * MB
    }),
    ("open descriptors", 1, |before| before + 16),
    ("threads", 1, |before| before + 8),
];

/// Maximum of each quantity in a tenth of the events.
#[derive(Clone, Copy, Default)]
struct Tenth {
    samples: u64,
    most: [u64; 3],
}

#[derive(Default)]
struct State {
    events: u64,
    done: AtomicU64,
    is_over: AtomicBool,
    has_failed: AtomicBool,
    samples: Mutex<Samples>,
}

#[derive(Default)]
struct Samples {
    tenths: [Tenth; 10],
    /// Folder of the recording, its size limit and its largest size, bytes.
    recording: Option<(PathBuf, u64, u64)>,
}

/// Thread that samples this process.
pub struct Monitor(Arc<State>);

impl Monitor {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(events: u64) -> Result<Self> {
        let state = Arc::new(State {
            events,
            ..State::default()
        });
        let shared = Arc::clone(&state);
        thread::Builder::new()
            .name("monitor".to_owned())
            .spawn(move || shared.follow())?;
        Ok(Self(state))
    }

    /// Sets the number of processed events.
    pub fn done(&self, events: u64) {
        self.0.done.store(events, Relaxed);
    }

    /// Sets the folder of the next recording, and the maximum size of its files in bytes.
    pub fn recording(&self, folder: &Path, most: u64) {
        let mut samples = self.0.lock();
        let before = samples.recording.take().map_or(0, |(_, _, size)| size);
        samples.recording = Some((folder.to_owned(), most, before));
    }

    /// Ends the sampling and prints its rows. The comparison afterwards needs more memory.
    pub fn finish(&self) {
        self.0.is_over.store(true, Relaxed);
        let samples = self.0.lock();
        let [_, second, rest @ ..] = &samples.tenths;
        let seen: u64 = rest.iter().map(|tenth| tenth.samples).sum();
        for (at, (name, unit, allowed)) in QUANTITIES.iter().enumerate() {
            let most = |tenth: &Tenth| tenth.most[at];
            let after = rest.iter().map(most).max().unwrap_or_default();
            let shown: Vec<String> = samples
                .tenths
                .iter()
                .map(|tenth| (most(tenth) / unit).to_string())
                .collect();
            let is_long = second.samples >= LEAST && seen >= LEAST;
            let what = format!("{name}: maximum in each tenth of the events");
            let holds = is_long.then(|| after <= allowed(most(second)));
            let measured = match is_long {
                true => shown.join(", "),
                false => format!("{}. Too short to judge", shown.join(", ")),
            };
            self.row(&what, &measured, holds);
        }
        if let Some((_, most, size)) = samples.recording {
            let measured = format!("at most {} MB of {} MB", size / MB, most / MB);
            self.row("all files of the recording", &measured, Some(size <= most));
        }
    }

    /// Prints a row of the table. `holds` is `None` for a value without a requirement.
    pub fn row(&self, what: &str, measured: &str, holds: Option<bool>) {
        if holds == Some(false) {
            self.0.has_failed.store(true, Relaxed);
        }
        let verdict = holds.map_or("", |holds| if holds { "holds" } else { "FAILED" });
        let [what, measured] = [what, measured].map(|text| text.replace('|', "\\|"));
        println!("| {what} | {measured} | {verdict} |");
    }

    /// Prints a row with the number of correct items.
    pub fn share(&self, what: &str, right: u64, all: u64) {
        let measured = format!("{} of {}", count(right), count(all));
        self.row(what, &measured, Some(right == all));
    }

    /// Returns true if a row failed.
    pub fn has_failed(&self) -> bool {
        self.0.has_failed.load(Relaxed)
    }
}

impl State {
    fn lock(&self) -> std::sync::MutexGuard<'_, Samples> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self) {
        let began = Instant::now();
        let (mut before, mut since, mut shown) = (0, began, began);
        while !self.is_over.load(Relaxed) {
            thread::sleep(SAMPLE_INTERVAL);
            let done = self.done.load(Relaxed);
            if done != before {
                (before, since) = (done, Instant::now());
            }
            if since.elapsed() > STALL_TIMEOUT {
                eprintln!("no progress after {} events", count(done));
                std::process::exit(3);
            }
            let sample = sample();
            let mut samples = self.lock();
            let tenth = (done * 10 / self.events.max(1)).min(9) as usize;
            if let (Some(found), Some(tenth)) = (sample, samples.tenths.get_mut(tenth)) {
                tenth.samples += 1;
                for (most, value) in tenth.most.iter_mut().zip(found) {
                    *most = value.max(*most);
                }
            }
            if let Some((folder, _, most)) = &mut samples.recording {
                *most = size(folder).max(*most);
            }
            drop(samples);
            if shown.elapsed() > PROGRESS_INTERVAL {
                shown = Instant::now();
                let speed = done as f64 / began.elapsed().as_secs_f64() / 1e6;
                let [memory, descriptors, threads] = sample.unwrap_or_default();
                eprintln!(
                    "{} of {} events, {speed:.2} million a second, {} MB, {descriptors} descriptors, {threads} threads",
                    count(done),
                    count(self.events),
                    memory / MB
                );
            }
        }
    }
}

/// Returns the values of [`QUANTITIES`] from `/proc`.
fn sample() -> Option<[u64; 3]> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let number = |word: &str| -> Option<u64> {
        let rest = status.lines().find_map(|line| line.strip_prefix(word))?;
        rest.split_whitespace().next()?.parse().ok()
    };
    let descriptors = fs::read_dir("/proc/self/fd").ok()?.count() as u64;
    Some([number("VmRSS:")? * 1024, descriptors, number("Threads:")?])
}

/// Returns the size of all files below a folder, bytes. Files that were removed in between do not count.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        found => found.map_or(0, |found| found.len()),
    });
    sizes.sum()
}
