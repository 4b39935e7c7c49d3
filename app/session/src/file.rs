//! Recordings on disk.

use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_exchange::{ImportError, Kind, Outcome, check, read};
use loadscope_trace::{
    Event, Fleet, Lines, LogError, LogReader, Merge, Nanos, RunId, count, plural,
};
use loadscope_words::{say, shell_quoted};

use super::folder::{Folder, LoaderNumbers, Placement};
use super::reading::Blocks;
use super::reading::{each_of_streams, is_program};

/// Returns the error message for a file that cannot be opened.
pub fn describe_open_error(path: &Path, error: &ImportError) -> String {
    match error {
        _ if is_standard_input(path) => {
            say!("cannot open -: Loadscope does not read standard input. Save it to a file first.")
                .to_owned()
        }
        error if error.names_the_file() => error.to_string(),
        ImportError::Log(error) => say!("cannot open {}: {}", path.display(), error.describe(path)),
        ImportError::Foreign { .. } if is_python(path) => say!(
            "cannot open {}: it is a Python program. To record it, run `loadscope record -- python {}`.",
            path.display(),
            shell_quoted(path)
        ),
        error => say!("cannot open {}: {error}", path.display()),
    }
}

/// Returns true for the name of standard input, unless a file has this name.
fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-" && !path.exists()
}

/// Returns true for a Python source file.
fn is_python(path: &Path) -> bool {
    let ending = path.extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case("py")) && path.is_file()
}

/// Checks if a file or folder can be opened, without reading all of it.
///
/// # Errors
/// If the file or folder cannot be opened.
pub fn check_path(path: &Path) -> Result<(), ImportError> {
    match path.is_dir() {
        true if Folder::has_recording(path) => Ok(()),
        true => Err(Folder::of(path)?.nothing()),
        false => check(path).map(|_| ()),
    }
}

/// Number of events per chunk when reading files of other tools.
const CHUNK: usize = 4096;

/// Time between two progress reports.
const REPORT_EVERY: Duration = Duration::from_millis(50);

/// Receiver of the progress of reading.
pub(super) trait ProgressListener {
    /// Receives the fraction that was read, 0 to 1, and the loaders so far. Returns false to cancel.
    fn progress(&mut self, share: f32, fleet: &Fleet) -> bool;
}

impl<F: FnMut(f32) -> bool> ProgressListener for F {
    fn progress(&mut self, share: f32, _: &Fleet) -> bool {
        self(share)
    }
}

/// Receiver that applies the events of a recording to a fleet.
pub(super) struct EventApplier<'a> {
    fleet: &'a mut Fleet,
    /// Position among the recordings of a folder. `None` for a single recording.
    placement: Option<(&'a mut Placement, &'a mut LoaderNumbers)>,
    /// First loader of this recording.
    first: Option<RunId>,
    /// Time of its last event.
    end: Nanos,
}

impl<'a> EventApplier<'a> {
    pub fn new(
        fleet: &'a mut Fleet,
        placement: Option<(&'a mut Placement, &'a mut LoaderNumbers)>,
    ) -> Self {
        Self {
            fleet,
            placement,
            first: None,
            end: Nanos::ZERO,
        }
    }

    fn apply(&mut self, event: &Event) {
        let Some((placement, numbers)) = &mut self.placement else {
            self.fleet.apply(event);
            return;
        };
        let mut event = event.clone();
        if let Some(before) = placement.adjust(&mut event, numbers) {
            self.fleet.apply(&before);
        }
        self.first.get_or_insert(event.run);
        self.end = event.at;
        self.fleet.apply(&event);
    }

    /// Adds a warning about events that arrived too late for sorting.
    fn warn_late(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        let first = self.fleet.runs().next();
        let first = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
        let (id, end) = self.first.map_or(first, |id| (id, self.end));
        self.fleet.apply(&late_warning(id, end, count));
    }
}

/// Reads a recording, the streams of a program, or a file of another tool. Returns true if it is truncated.
///
/// # Errors
/// If the file cannot be opened or is damaged.
pub(super) fn read_into(
    path: &Path,
    mut applier: EventApplier<'_>,
    listener: &mut dyn ProgressListener,
) -> Result<bool, ImportError> {
    if is_program(path) {
        return Ok(read_streams(path, &mut applier, listener)?);
    }
    if Kind::of(path)? != Kind::Log {
        return read_others(path, &mut applier, listener);
    }
    let reader = LogReader::open(path)?;
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    let size = reader.size().unwrap_or(size).max(1);
    let blocks = Blocks::new(reader);
    std::thread::scope(|threads| {
        for _ in 0..Blocks::helpers() {
            let helper = std::thread::Builder::new().name("recording".to_owned());
            // Without helper threads, reading is only slower.
            let _ = helper.spawn_scoped(threads, || blocks.help());
        }
        let read = fold(&blocks, size, &mut applier, listener);
        blocks.stop();
        Ok(read?)
    })
}

/// Applies the blocks of a file of `size` bytes.
fn fold(
    blocks: &Blocks,
    size: u64,
    applier: &mut EventApplier<'_>,
    listener: &mut dyn ProgressListener,
) -> Result<bool, LogError> {
    let mut merge = Merge::default();
    // The fleet may contain events of other recordings of the same folder.
    let others = applier.fleet.events();
    // The header is the first line.
    let (mut lines, mut read, mut cut) = (1, 0, false);
    let mut text = Lines::default();
    let mut last_report: Option<Instant> = None;
    while let Some(block) = blocks.next(&mut text) {
        read += block.events.len() as u64;
        merge.push(block.events, block.length);
        merge.drain_ready(|event| applier.apply(event));
        if let Some(error) = block.failed {
            merge.drain_all(|event| applier.apply(event));
            return Err(error.offset_lines(lines));
        }
        lines += block.lines;
        cut |= block.cut;
        let share = block.consumed as f64 / size as f64;
        // The merge holds some events back.
        let taken = applier.fleet.events().saturating_sub(others).min(read);
        let folded = share * taken as f64 / read.max(1) as f64;
        if last_report.is_none_or(|at| at.elapsed() >= REPORT_EVERY) {
            last_report = Some(Instant::now());
            if !listener.progress(folded as f32, applier.fleet) {
                break;
            }
        }
    }
    merge.drain_all(|event| applier.apply(event));
    applier.warn_late(merge.late());
    Ok(cut)
}

/// Reports the loaders that were skipped, and closes the runs.
pub(super) fn complete(fleet: &mut Fleet) {
    let (left_out, first) = (fleet.left_out(), fleet.runs().next());
    let (run, at) = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
    if left_out > 0 {
        fleet.apply(&Event::warning(
            run,
            at,
            say!(
                "{} skipped: a recording can have at most {} loaders",
                plural(left_out, say!(n: "event"), say!(n: "events")),
                count(Fleet::MAX_RUNS as u64)
            ),
        ));
    }
    fleet.close();
}

/// Reads the streams of a program's processes. Their total size is unknown, so the progress stays 0.
fn read_streams(
    path: &Path,
    applier: &mut EventApplier<'_>,
    listener: &mut dyn ProgressListener,
) -> Result<bool, LogError> {
    let mut last_report = Instant::now();
    each_of_streams(path, |event| {
        applier.apply(&event);
        if last_report.elapsed() < REPORT_EVERY {
            return true;
        }
        last_report = Instant::now();
        listener.progress(0.0, applier.fleet)
    })
}

/// Reads a file of another tool. Parsing and applying have separate threads, because they need about the same time.
fn read_others(
    path: &Path,
    applier: &mut EventApplier<'_>,
    listener: &mut dyn ProgressListener,
) -> Result<bool, ImportError> {
    let size = loadscope_exchange::size(path).max(1);
    let mut last_report = Instant::now();
    let outcome = std::thread::scope(|threads| {
        let (sender, chunks) = crossbeam_channel::bounded(8);
        let reader = std::thread::Builder::new()
            .name("recording".to_owned())
            .spawn_scoped(threads, move || read_chunks(path, &sender))
            .map_err(|cause| LogError::Io {
                doing: "read",
                lines: 0,
                cause,
            })
            .map_err(ImportError::from)?;
        while let Ok((events, bytes)) = chunks.recv() {
            events.iter().for_each(|event| applier.apply(event));
            if last_report.elapsed() >= REPORT_EVERY {
                last_report = Instant::now();
                let share = (bytes as f64 / size as f64) as f32;
                if !listener.progress(share, applier.fleet) {
                    break;
                }
            }
        }
        // Dropping the receiver makes the reader's `send` fail, which stops it.
        drop(chunks);
        match reader.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    applier.warn_late(outcome.late);
    Ok(outcome.cut)
}

/// Reads events until the receiver is dropped.
fn read_chunks(path: &Path, sender: &Sender<(Vec<Event>, u64)>) -> Result<Outcome, ImportError> {
    let mut events = Vec::with_capacity(CHUNK);
    let mut so_far = 0;
    let outcome = read(path, |event, bytes| {
        // Some files have many bytes before their first event. Progress before the first event is sent at once.
        let is_due = event.is_none() || events.len() + 1 >= CHUNK;
        events.extend(event);
        so_far = bytes;
        if !is_due {
            return true;
        }
        let full = std::mem::replace(&mut events, Vec::with_capacity(CHUNK));
        sender.send((full, bytes)).is_ok()
    });
    // The receiver may be gone.
    let _ = sender.send((events, so_far));
    outcome
}

/// Returns the warning about events that arrived too late for sorting.
pub(super) fn late_warning(run: RunId, at: Nanos, count: u64) -> Event {
    let text = match count {
        1 => say!("1 event arrived late and is shown at its arrival time").to_owned(),
        more => say!(
            "{} events arrived late and are shown at their arrival time",
            loadscope_trace::count(more)
        ),
    };
    Event::warning(run, at, text)
}

#[cfg(test)]
mod tests;
