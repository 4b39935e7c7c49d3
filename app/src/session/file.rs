//! Recordings on disk.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use loadscope_exchange::{ImportError, Kind, Outcome, check, read};
use loadscope_live::folder;
use loadscope_trace::{
    Compression, Event, Fleet, Lines, LogError, LogReader, LogWriter, Merge, Nanos, Run, RunId,
    count, plural,
};

use super::reading::Blocks;
use crate::loaders::Loaders;

/// What to tell a user whose file could not be read.
pub fn refusal(path: &Path, error: &ImportError) -> String {
    match error.names_the_file() {
        true => format!("cannot open {error}"),
        false => format!("cannot open {}: {error}", path.display()),
    }
}

/// Looks whether a file or a folder can be opened, without reading it to its end.
///
/// # Errors
/// Why not.
pub fn look(path: &Path) -> Result<(), ImportError> {
    match is_program(path) {
        true => Ok(()),
        false => check(path).map(|_| ()),
    }
}

/// True for the folder into which the processes of a program wrote, because nobody listened.
fn is_program(path: &Path) -> bool {
    path.is_dir() && !folder::streams(path).is_empty()
}

/// After so much of a file the rest is taken to be like it, and room is made for it.
const FORESEEN: f64 = 1.0 / 64.0;
/// Events that go from the thread that reads what others wrote to the one that takes in, at a time.
const CHUNK: usize = 4096;

/// Reads the loader of a recording that is looked at first; see [`read_fleet`].
///
/// # Errors
/// If the file is nothing that can be opened or is damaged.
pub fn read_run(
    path: &Path,
    progress: impl FnMut(f32) -> bool,
) -> Result<(Run, bool), ImportError> {
    let (fleet, cut) = read_fleet(path, progress)?;
    let (_, run) = Loaders::of(fleet, None);
    Ok((run, cut))
}

/// Reads all loaders of a recording, of the folder into which a program wrote that nobody listened to, or of what another tool
/// wrote; `progress` hears how far it is and says whether to go on.
///
/// # Errors
/// If it is nothing that can be opened or is damaged.
pub fn read_fleet(
    path: &Path,
    progress: impl FnMut(f32) -> bool,
) -> Result<(Fleet, bool), ImportError> {
    if is_program(path) {
        return Ok(read_folder(path, progress)?);
    }
    if Kind::of(path)? != Kind::Log {
        return read_others(path, progress);
    }
    let size = std::fs::metadata(path).map_or(0, |m| m.len()).max(1);
    let blocks = Blocks::new(LogReader::open(path)?);
    std::thread::scope(|threads| {
        for _ in 0..Blocks::helpers() {
            let helper = std::thread::Builder::new().name("recording".to_owned());
            // Without help it takes longer.
            let _ = helper.spawn_scoped(threads, || blocks.help());
        }
        let read = fold(&blocks, size, progress);
        blocks.stop();
        Ok(read?)
    })
}

/// Takes in the blocks of a file of `size` bytes.
fn fold(
    blocks: &Blocks,
    size: u64,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<(Fleet, bool), LogError> {
    let mut fleet = Fleet::default();
    let mut merge = Merge::default();
    // The header has been read.
    let (mut lines, mut read, mut cut) = (1, 0, false);
    let mut text = Lines::default();
    let mut told: Option<Instant> = None;
    while let Some(block) = blocks.next(&mut text) {
        read += block.events.len() as u64;
        merge.push(block.events, block.length);
        merge.ripe(|event| fleet.apply(event));
        if let Some(error) = block.failed {
            return Err(error.after(lines));
        }
        lines += block.lines;
        cut |= block.cut;
        let share = block.consumed as f64 / size as f64;
        // Some of what was read is held back.
        let folded = share * fleet.events() as f64 / read.max(1) as f64;
        if folded >= FORESEEN {
            fleet.make_room(folded);
        }
        if told.is_none_or(|at| at.elapsed() >= Duration::from_millis(50)) {
            told = Some(Instant::now());
            if !progress(share as f32) {
                break;
            }
        }
    }
    merge.rest(|event| fleet.apply(event));
    if merge.late() > 0 {
        let first = fleet.runs().next();
        let (id, end) = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
        fleet.apply(&late(id, end, merge.late()));
    }
    complete(&mut fleet);
    Ok((fleet, cut))
}

/// Says what was left out, and gives back what was reserved.
fn complete(fleet: &mut Fleet) {
    let (left_out, first) = (fleet.left_out(), fleet.runs().next());
    let (run, at) = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
    if left_out > 0 {
        fleet.apply(&Event::warning(
            run,
            at,
            format!(
                "{} of more than {} loaders are left out",
                plural(left_out, "event", "events"),
                count(Fleet::MOST as u64)
            ),
        ));
    }
    fleet.shrink_to_fit();
}

/// Reads the streams of a program's processes. How much there is to come, they do not tell.
fn read_folder(
    path: &Path,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<(Fleet, bool), LogError> {
    let mut fleet = Fleet::default();
    let mut told = Instant::now();
    let cut = each_of_folder(path, |event| {
        fleet.apply(&event);
        if told.elapsed() < Duration::from_millis(50) {
            return true;
        }
        told = Instant::now();
        progress(0.0)
    })?;
    complete(&mut fleet);
    Ok((fleet, cut))
}

/// Hands the events of a folder of streams over until `each` returns false. True if one of them was cut off.
fn each_of_folder(path: &Path, each: impl FnMut(Event) -> bool) -> Result<bool, LogError> {
    folder::read(path, each).map_err(|cause| LogError::Open {
        path: path.to_owned(),
        cause,
    })
}

/// Reads what another tool wrote. Reading and taking in are about as much work, so each has a thread.
fn read_others(
    path: &Path,
    mut progress: impl FnMut(f32) -> bool,
) -> Result<(Fleet, bool), ImportError> {
    let size = loadscope_exchange::size(path).max(1);
    let mut fleet = Fleet::default();
    let mut told = Instant::now();
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
        for (events, bytes) in &chunks {
            events.iter().for_each(|event| fleet.apply(event));
            if told.elapsed() >= Duration::from_millis(50) {
                told = Instant::now();
                if !progress((bytes as f64 / size as f64) as f32) {
                    break;
                }
            }
        }
        // Who breaks off is heard by the reader through this.
        drop(chunks);
        match reader.join() {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })?;
    if outcome.late > 0 {
        let first = fleet.runs().next();
        let (id, end) = first.map_or_else(Default::default, |(id, run)| (id, run.end()));
        fleet.apply(&late(id, end, outcome.late));
    }
    complete(&mut fleet);
    Ok((fleet, outcome.cut))
}

/// Reads events for as long as somebody takes them.
fn read_chunks(path: &Path, sender: &Sender<(Vec<Event>, u64)>) -> Result<Outcome, ImportError> {
    let mut events = Vec::with_capacity(CHUNK);
    let mut so_far = 0;
    let outcome = read(path, |event, bytes| {
        // Of some files much is read before there is an event; that is passed on at once.
        let is_due = event.is_none() || events.len() + 1 >= CHUNK;
        events.extend(event);
        so_far = bytes;
        if !is_due {
            return true;
        }
        let full = std::mem::replace(&mut events, Vec::with_capacity(CHUNK));
        sender.send((full, bytes)).is_ok()
    });
    // Nobody may want them any more.
    let _ = sender.send((events, so_far));
    outcome
}

/// Where the events of a run can be had once more.
pub(super) enum Again {
    /// From the compressed log in memory.
    Memory(Vec<u8>),
    /// From a file.
    File(PathBuf),
}

impl Again {
    /// Hands all events over.
    pub fn each(
        self,
        mut each: impl FnMut(&Event) -> Result<(), LogError>,
    ) -> Result<(), ImportError> {
        let reader = match self {
            Self::Memory(bytes) => LogReader::new(std::io::Cursor::new(bytes))?,
            // As it stands there, not as it is sorted.
            Self::File(path) if !is_program(&path) && Kind::of(&path)? == Kind::Log => {
                LogReader::open(&path)?
            }
            Self::File(path) if is_program(&path) => {
                let mut result = Ok(());
                each_of_folder(&path, |event| {
                    result = each(&event);
                    result.is_ok()
                })?;
                return Ok(result?);
            }
            Self::File(path) => {
                let mut result = Ok(());
                read(&path, |event, _| {
                    result = event.iter().try_for_each(&mut each);
                    result.is_ok()
                })?;
                return Ok(result?);
            }
        };
        for event in reader {
            each(&event?)?;
        }
        Ok(())
    }
}

/// Writes events to `path`, compressed as its name asks for, through a file beside it so that nothing half-written is left.
pub(super) fn write_copy(events: Again, path: &Path) -> Result<(), ImportError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let result = (|| {
        let file = File::create(&part).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        let mut log = LogWriter::new(file, Compression::for_path(path))?;
        events.each(|event| log.write(event))?;
        log.finish()?;
        std::fs::rename(&part, path).map_err(|cause| LogError::Open {
            path: path.to_owned(),
            cause,
        })?;
        Ok(())
    })();
    if result.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    result
}

/// Says that events came too late to be put in their place.
pub(super) fn late(run: RunId, at: Nanos, count: u64) -> Event {
    let text = format!("{count} events came late and are shown later than they happened");
    Event::warning(run, at, text)
}

#[cfg(test)]
mod tests;
