//! A folder of recordings, from several ranks or hosts, opened as one session.
//!
//! Each recording is read twice. The first pass finds its rank and the times of its trainer's requests for batches.
//! These facts determine its position on the common time axis. The second pass reads everything.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use loadscope_diagnose::align::{Alignment, ClockInfo, align_recordings};
use loadscope_exchange::{ImportError, Kind, check};
use loadscope_files::is_on_virtual_filesystem;
use loadscope_live::folder;
use loadscope_trace::{Clock, Event, EventKind, Fleet, Nanos, RunId, RunInfo, count, multipart};
use loadscope_words::say;

use super::reading::each_event;

/// Maximum number of recordings, because all can be open at the same time.
const MOST_RECORDINGS: usize = 256;
/// Maximum number of examined files.
const MOST_FILES: usize = 16_384;
/// Maximum number of skipped files that are named individually.
const NAMED: usize = 8;
/// Maximum number of events in the first pass, and for a recording without a rank.
const MAX_EVENTS: usize = 200_000;
const MAX_EVENTS_WITHOUT_RANK: usize = 1_000;

/// Contents of a folder.
pub(super) struct Folder {
    /// Recordings and files that can be opened.
    pub recordings: Vec<PathBuf>,
    /// Names of skipped files, with the reason.
    skipped: Vec<(String, String)>,
    /// Number of recordings beyond the limit.
    beyond: usize,
    /// True if the folder has more entries than were examined.
    is_too_full: bool,
}

impl Folder {
    /// Examines a folder.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn of(path: &Path) -> Result<Self, ImportError> {
        let failed = |cause| ImportError::Open {
            path: path.to_owned(),
            cause,
        };
        if is_on_virtual_filesystem(path) {
            let what = say!("belongs to the system").to_owned();
            let is_folder = true;
            return Err(ImportError::Foreign { is_folder, what });
        }
        if is_parts_folder(path) {
            let what = say!("contains the parts of a recording: open the file next to it instead");
            return Err(ImportError::Foreign {
                is_folder: true,
                what: what.to_owned(),
            });
        }
        let mut entries = Vec::new();
        let mut all = fs::read_dir(path).map_err(failed)?;
        for entry in all.by_ref().take(MOST_FILES) {
            entries.push(entry.map_err(failed)?.path());
        }
        entries.sort_by_cached_key(|p| natural_sort_key(&name(p)));
        let mut found = Self {
            recordings: Vec::new(),
            skipped: Vec::new(),
            beyond: 0,
            is_too_full: all.next().is_some(),
        };
        // The streams of several processes in the folder itself are one recording.
        let of_processes = folder::streams(path);
        let is_lotus = matches!(Kind::of(path), Ok(Kind::Lotus));
        if !of_processes.is_empty() || is_lotus {
            found.recordings.push(path.to_owned());
        }
        for entry in entries {
            if of_processes.contains(&entry) || is_parts_folder(&entry) {
                continue;
            }
            // Files that will be named are examined completely.
            let looked = match found.skipped.len() < NAMED || may_be_recording(&entry) {
                true => detect_kind(&entry),
                false => Err(say!("is not a recording").to_owned()),
            };
            match looked {
                // A log of a process that is already part of the folder's recording.
                Ok(Kind::Lotus) if is_lotus && !entry.is_dir() => {}
                Ok(_) if found.recordings.len() < MOST_RECORDINGS => found.recordings.push(entry),
                Ok(_) => found.beyond += 1,
                Err(why) => found.skipped.push((name(&entry), why)),
            }
        }
        Ok(found)
    }

    /// Returns true if the folder contains a recording. Stops at the first one.
    pub fn has_recording(path: &Path) -> bool {
        if is_on_virtual_filesystem(path) || is_parts_folder(path) {
            return false;
        }
        if !folder::streams(path).is_empty() || matches!(Kind::of(path), Ok(Kind::Lotus)) {
            return true;
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries = entries.take(MOST_FILES).map(|entry| entry.path());
        entries.any(|entry| may_be_recording(&entry) && detect_kind(&entry).is_ok())
    }

    /// Returns the error for a folder without recordings.
    pub fn nothing(&self) -> ImportError {
        let what = match self.skipped.len() {
            0 => say!("is empty").to_owned(),
            _ => say!("contains no recordings: {}", self.names()),
        };
        ImportError::Foreign {
            is_folder: true,
            what,
        }
    }

    /// Returns notices about skipped files.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let named = self.skipped.iter().take(NAMED);
        notes.extend(named.map(|(name, why)| say!("{name}: skipped, it {why}")));
        if let Some(more @ 1..) = self.skipped.len().checked_sub(NAMED) {
            notes.push(say!(
                "{} more files of this folder were skipped",
                count(more as u64)
            ));
        }
        if self.beyond > 0 {
            notes.push(say!(
                "{} more recordings in this folder were skipped: the limit is {}",
                count(self.beyond as u64),
                MOST_RECORDINGS
            ));
        }
        if self.is_too_full {
            notes.push(say!(
                "Only the first {} files of this folder were read",
                count(MOST_FILES as u64)
            ));
        }
        notes
    }

    fn names(&self) -> String {
        let named = self.skipped.iter().take(NAMED);
        let mut names: Vec<String> = named.map(|(name, why)| say!("{name} {why}")).collect();
        if self.skipped.len() > NAMED {
            names.push(say!(
                "and {} more",
                count((self.skipped.len() - NAMED) as u64)
            ));
        }
        names.join(", ")
    }
}

/// Returns true for a folder with the parts of the recording next to it.
fn is_parts_folder(path: &Path) -> bool {
    let is_part = |entry: fs::DirEntry| {
        let name = entry.file_name();
        name.to_str().and_then(multipart::PartFile::parse).is_some()
    };
    path.extension().is_some_and(|ending| ending == "parts")
        && fs::read_dir(path).is_ok_and(|all| all.take(MOST_FILES).flatten().any(is_part))
}

/// Returns the kind of the file or folder, or the reason for skipping it.
fn detect_kind(path: &Path) -> Result<Kind, String> {
    if is_on_virtual_filesystem(path) {
        return Err(say!("belongs to the system").to_owned());
    }
    if path.is_dir() {
        return match folder::streams(path).is_empty() {
            false => Ok(Kind::Log),
            true if matches!(Kind::of(path), Ok(Kind::Lotus)) => Ok(Kind::Lotus),
            true => Err(say!("is a folder without recordings").to_owned()),
        };
    }
    check(path).map_err(|error| match error {
        ImportError::Foreign { what, .. } => what,
        ImportError::Empty => say!("is empty").to_owned(),
        error => say!("cannot be opened: {error}"),
    })
}

/// Returns false if the first bytes belong to no known format. The check is fast, because a folder can contain 100,000 images.
fn may_be_recording(path: &Path) -> bool {
    if !path.is_file() {
        return true;
    }
    let mut first = Vec::new();
    let file = fs::File::open(path);
    if file
        .and_then(|file| file.take(4).read_to_end(&mut first))
        .is_err()
    {
        return true;
    }
    let is_text = match first.first() {
        None => true,
        Some(letter) => b"{[S \n\r\t".contains(letter),
    };
    let signs = [
        &[0xEF, 0xBB, 0xBF][..],
        &[0x1F, 0x8B],
        &[0x28, 0xB5, 0x2F, 0xFD],
    ];
    is_text || signs.iter().any(|sign| first.starts_with(sign))
}

pub(super) fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// Returns the name without the extension of the format.
fn title(path: &Path) -> String {
    let name = name(path);
    let without = name.strip_suffix(".zst").unwrap_or(&name);
    without.strip_suffix(".jsonl").unwrap_or(without).to_owned()
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u128),
    Text(String),
}

/// Returns a sort key that orders `rank2` before `rank10`.
fn natural_sort_key(name: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for letter in name.chars() {
        match (parts.last_mut(), letter.to_digit(10)) {
            (Some(Part::Number(number)), Some(digit)) => {
                *number = number.saturating_mul(10).saturating_add(u128::from(digit));
            }
            (_, Some(digit)) => parts.push(Part::Number(u128::from(digit))),
            (Some(Part::Text(text)), None) => text.push(letter),
            (_, None) => parts.push(Part::Text(letter.to_string())),
        }
    }
    parts
}

/// Position of a recording on the common time axis, and the numbers of its loaders.
pub(super) struct Placement {
    pub path: PathBuf,
    title: String,
    place: Alignment,
    /// Loader numbers in the session, by the number in the file.
    runs: BTreeMap<RunId, RunId>,
}

/// Counter of loader numbers for all recordings.
#[derive(Default)]
pub(super) struct LoaderNumbers(u32);

/// Returns the position of each recording, ordered by rank.
pub(super) fn placements(recordings: &[PathBuf]) -> Vec<Placement> {
    let mut all: Vec<(ClockInfo, &PathBuf)> =
        recordings.iter().map(|p| (clock_info(p), p)).collect();
    all.sort_by_key(|(clock_info, path)| {
        (
            clock_info.rank().unwrap_or(u32::MAX),
            natural_sort_key(&name(path)),
        )
    });
    let (clock_info, paths): (Vec<ClockInfo>, Vec<&PathBuf>) = all.into_iter().unzip();
    let placement = |(place, path): (Alignment, &PathBuf)| Placement {
        path: path.clone(),
        title: title(path),
        place,
        runs: BTreeMap::new(),
    };
    align_recordings(&clock_info)
        .into_iter()
        .zip(paths)
        .map(placement)
        .collect()
}

/// Reads the facts for the position of a recording in time. Damage is reported by the second pass.
fn clock_info(path: &Path) -> ClockInfo {
    let mut clock_info = ClockInfo::default();
    let mut left = MAX_EVENTS;
    let _ = each_event(path, |event| {
        left -= 1;
        let is_short = clock_info.rank().is_none() && MAX_EVENTS - left >= MAX_EVENTS_WITHOUT_RANK;
        clock_info.apply(event) && left > 0 && !is_short
    });
    clock_info
}

impl Placement {
    /// Converts a time of this recording to the common clock.
    pub fn to_common_clock(&self, at: Nanos) -> Nanos {
        at + self.place.shift
    }

    /// Moves an event to the common clock. Returns an introduction for the first event of a loader that has none.
    pub fn adjust(&mut self, event: &mut Event, numbers: &mut LoaderNumbers) -> Option<Event> {
        event.shift(self.place.shift);
        let is_new = !self.runs.contains_key(&event.run);
        let run = match self.runs.get(&event.run) {
            Some(run) => *run,
            // All loaders beyond the limit share one number, because a damaged file can contain any number.
            None if numbers.0 as usize >= Fleet::MAX_RUNS => RunId(u32::MAX),
            None => {
                let run = RunId(numbers.0);
                numbers.0 += 1;
                self.runs.insert(event.run, run);
                run
            }
        };
        event.run = run;
        if let Some(info) = event.run_info_mut() {
            self.name(info);
            return None;
        }
        is_new.then(|| {
            let mut info = Box::<RunInfo>::default();
            self.name(&mut info);
            Event {
                at: event.at,
                run,
                kind: EventKind::RunStarted(info),
            }
        })
    }

    fn name(&self, info: &mut RunInfo) {
        info.recording.clone_from(&self.title);
        let clock: Option<Clock> = self.place.clock;
        info.clock = clock.or(info.clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_sort_by_their_numbers() {
        let mut names = [
            "rank10.jsonl",
            "rank2.jsonl",
            "rank1-b",
            "rank1-a10",
            "rank1-a9",
            "a",
            "7",
        ];
        names.sort_by_key(|name| natural_sort_key(name));
        assert_eq!(
            names,
            [
                "7",
                "a",
                "rank1-a9",
                "rank1-a10",
                "rank1-b",
                "rank2.jsonl",
                "rank10.jsonl"
            ]
        );
    }
}
