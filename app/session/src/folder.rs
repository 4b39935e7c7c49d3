//! A folder of recordings: those of several ranks or hosts, as one session.
//!
//! It is read twice. The first look at each tells who made it and when its trainer asked for batches, from which follows where it
//! stands on the common axis of time; then it is read whole.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use loadscope_diagnose::align::{Marks, Place, places};
use loadscope_exchange::{ImportError, Kind, check};
use loadscope_files::is_of_kernel;
use loadscope_live::folder;
use loadscope_trace::{Clock, Event, EventKind, Fleet, Nanos, RunId, RunInfo, count, parted};
use loadscope_words::say;

use super::events::each_event;

/// Recordings that are opened together: each may be open at the same time as all others.
const MOST_RECORDINGS: usize = 256;
/// Files that are looked at.
const MOST_FILES: usize = 16_384;
/// Files that are named one by one when they are skipped.
const NAMED: usize = 8;
/// Events that are looked at first, and if it is of no rank.
const LOOK: usize = 200_000;
const SHORT_LOOK: usize = 1_000;

/// What is in a folder.
pub(super) struct Folder {
    /// What can be opened.
    pub recordings: Vec<PathBuf>,
    /// What cannot, with the reason.
    skipped: Vec<(String, String)>,
    /// Recordings beyond the limit.
    beyond: usize,
    /// There is more than was looked at.
    is_too_full: bool,
}

impl Folder {
    /// Looks through a folder.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(path: &Path) -> Result<Self, ImportError> {
        let failed = |cause| ImportError::Open {
            path: path.to_owned(),
            cause,
        };
        if is_of_kernel(path) {
            let what = say!("belongs to the system").to_owned();
            let is_folder = true;
            return Err(ImportError::Foreign { is_folder, what });
        }
        if is_of_parts(path) {
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
        entries.sort_by_cached_key(|p| natural(&name(p)));
        let mut found = Self {
            recordings: Vec::new(),
            skipped: Vec::new(),
            beyond: 0,
            is_too_full: all.next().is_some(),
        };
        // What several processes wrote into the folder itself is one recording.
        let of_processes = folder::streams(path);
        let is_lotus = matches!(Kind::of(path), Ok(Kind::Lotus));
        if !of_processes.is_empty() || is_lotus {
            found.recordings.push(path.to_owned());
        }
        for entry in entries {
            if of_processes.contains(&entry) || is_of_parts(&entry) {
                continue;
            }
            // Those that are named are looked at closely.
            let looked = match found.skipped.len() < NAMED || might_be(&entry) {
                true => look_into(&entry),
                false => Err(say!("is not a recording").to_owned()),
            };
            match looked {
                // A log of a process that has been counted with the folder.
                Ok(Kind::Lotus) if is_lotus && !entry.is_dir() => {}
                Ok(_) if found.recordings.len() < MOST_RECORDINGS => found.recordings.push(entry),
                Ok(_) => found.beyond += 1,
                Err(why) => found.skipped.push((name(&entry), why)),
            }
        }
        Ok(found)
    }

    /// True if there is something to open. Stops looking as soon as that is known.
    pub fn has_any(path: &Path) -> bool {
        if is_of_kernel(path) || is_of_parts(path) {
            return false;
        }
        if !folder::streams(path).is_empty() || matches!(Kind::of(path), Ok(Kind::Lotus)) {
            return true;
        }
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut entries = entries.take(MOST_FILES).map(|entry| entry.path());
        entries.any(|entry| might_be(&entry) && look_into(&entry).is_ok())
    }

    /// That there is nothing to open, in a sentence.
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

    /// What was skipped, for people.
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

/// True for a folder with the parts of a recording, which stands beside it.
fn is_of_parts(path: &Path) -> bool {
    let is_part = |entry: fs::DirEntry| {
        let name = entry.file_name();
        name.to_str().and_then(parted::Member::of).is_some()
    };
    path.extension().is_some_and(|ending| ending == "parts")
        && fs::read_dir(path).is_ok_and(|all| all.take(MOST_FILES).flatten().any(is_part))
}

/// What is at `path`, or why it is skipped.
fn look_into(path: &Path) -> Result<Kind, String> {
    if is_of_kernel(path) {
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

/// False if the first bytes are those of nothing that can be opened: a folder may hold a hundred thousand pictures.
fn might_be(path: &Path) -> bool {
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

/// The name of a file or folder.
pub(super) fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

/// The name without what it says about the format.
fn title(path: &Path) -> String {
    let name = name(path);
    let without = name.strip_suffix(".zst").unwrap_or(&name);
    without.strip_suffix(".jsonl").unwrap_or(without).to_owned()
}

/// A part of a name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u128),
    Text(String),
}

/// Sorts `rank2` before `rank10`.
fn natural(name: &str) -> Vec<Part> {
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

/// Where a recording of a session stands, and which numbers its loaders get.
pub(super) struct Seat {
    pub path: PathBuf,
    title: String,
    place: Place,
    /// Numbers of its loaders here, by those in the file.
    runs: BTreeMap<RunId, RunId>,
}

/// Numbers for the loaders of all recordings.
#[derive(Default)]
pub(super) struct Numbers(u32);

/// Where each recording stands. Ranks come in their order.
pub(super) fn seats(recordings: &[PathBuf]) -> Vec<Seat> {
    let mut all: Vec<(Marks, &PathBuf)> = recordings.iter().map(|p| (marks(p), p)).collect();
    all.sort_by_key(|(marks, path)| (marks.rank().unwrap_or(u32::MAX), natural(&name(path))));
    let (marks, paths): (Vec<Marks>, Vec<&PathBuf>) = all.into_iter().unzip();
    let seat = |(place, path): (Place, &PathBuf)| Seat {
        path: path.clone(),
        title: title(path),
        place,
        runs: BTreeMap::new(),
    };
    places(&marks).into_iter().zip(paths).map(seat).collect()
}

/// What a recording tells about its place in time. One that is damaged tells less, and is found out when it is read.
fn marks(path: &Path) -> Marks {
    let mut marks = Marks::default();
    let mut left = LOOK;
    let _ = each_event(path, |event| {
        left -= 1;
        let is_short = marks.rank().is_none() && LOOK - left >= SHORT_LOOK;
        marks.take(event) && left > 0 && !is_short
    });
    marks
}

impl Seat {
    /// When something happens here that happens `at` by its own clock.
    pub fn moved(&self, at: Nanos) -> Nanos {
        at + self.place.shift
    }

    /// Moves an event to where it belongs. Before the first of a loader that does not introduce itself comes an introduction.
    pub fn take(&mut self, event: &mut Event, numbers: &mut Numbers) -> Option<Event> {
        event.shift(self.place.shift);
        let is_new = !self.runs.contains_key(&event.run);
        let run = match self.runs.get(&event.run) {
            Some(run) => *run,
            // All that are too many are one: a broken file may name any number.
            None if numbers.0 as usize >= Fleet::MOST => RunId(u32::MAX),
            None => {
                let run = RunId(numbers.0);
                numbers.0 += 1;
                self.runs.insert(event.run, run);
                run
            }
        };
        event.run = run;
        if let Some(info) = event.introduction() {
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
    fn numbers_in_names_are_numbers() {
        let mut names = [
            "rank10.jsonl",
            "rank2.jsonl",
            "rank1-b",
            "rank1-a10",
            "rank1-a9",
            "a",
            "7",
        ];
        names.sort_by_key(|name| natural(name));
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
