//! A recording that was read whole, or a folder of them.

use std::path::Path;

use loadscope_exchange::ImportError;
use loadscope_trace::{Fleet, Run, plural};
use loadscope_words::say;

use super::Notice;
use super::file::{Taker, Watcher, complete, read_into, refusal};
use super::folder::{Folder, Numbers, name, seats};
use loadscope_insight::loaders::Loaders;

/// What was read.
#[derive(Debug, Default)]
pub struct Opened {
    /// All loaders.
    pub fleet: Fleet,
    /// True if a file ends in the middle.
    pub cut: bool,
    /// What there is to say about the files of a folder, in whole sentences.
    pub notes: Vec<Notice>,
}

/// Reads the loader of a recording that is looked at first; see [`open`].
///
/// # Errors
/// If the file is nothing that can be opened or is damaged.
pub fn read_run(
    path: &Path,
    progress: impl FnMut(f32) -> bool,
) -> Result<(Run, bool), ImportError> {
    let opened = open(path, progress)?;
    let (_, run) = Loaders::of(opened.fleet, None);
    Ok((run, opened.cut))
}

/// Reads all loaders of a recording, of the folder into which a program wrote without a listener, of what another tool
/// wrote, or of a folder of such recordings; `progress` hears how far it is and says whether to go on.
///
/// # Errors
/// If it is nothing that can be opened or is damaged.
pub fn open(path: &Path, mut progress: impl FnMut(f32) -> bool) -> Result<Opened, ImportError> {
    open_watched(path, &mut progress)
}

/// The same, for who looks at it before all of it is there.
pub(super) fn open_watched(path: &Path, watcher: &mut dyn Watcher) -> Result<Opened, ImportError> {
    let mut opened = Opened::default();
    if path.is_dir() {
        let folder = Folder::of(path)?;
        let skipped = folder.notes().into_iter().map(Notice::note);
        opened.notes.extend(skipped);
        match &folder.recordings[..] {
            [] => return Err(folder.nothing()),
            [one] => opened.read_one(one, watcher)?,
            all => opened.read_all(all, watcher)?,
        }
    } else {
        opened.read_one(path, watcher)?;
    }
    complete(&mut opened.fleet);
    Ok(opened)
}

/// The progress of one of several recordings.
struct OfPart<'a> {
    watcher: &'a mut dyn Watcher,
    /// The share of all that was read before, and that of this one.
    before: f32,
    share: f32,
    is_wanted: &'a mut bool,
}

impl Watcher for OfPart<'_> {
    fn progress(&mut self, share: f32, fleet: &Fleet) -> bool {
        let share = self.before + share * self.share;
        *self.is_wanted = self.watcher.progress(share, fleet);
        *self.is_wanted
    }
}

impl Opened {
    fn read_one(&mut self, path: &Path, watcher: &mut dyn Watcher) -> Result<(), ImportError> {
        self.cut = read_into(path, Taker::new(&mut self.fleet, None), watcher)?;
        Ok(())
    }

    /// Reads several as one session. One that is damaged is named, and does not keep the others from being looked at.
    fn read_all(
        &mut self,
        recordings: &[std::path::PathBuf],
        watcher: &mut dyn Watcher,
    ) -> Result<(), ImportError> {
        let mut seats = seats(recordings);
        let mut numbers = Numbers::default();
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len()).max(1) as f32;
        let total: f32 = seats.iter().map(|seat| size(&seat.path)).sum();
        let (mut before, mut read) = (0.0, 0);
        let mut is_wanted = true;
        let (mut cut, mut damaged) = (Vec::new(), None);
        for seat in &mut seats {
            if !is_wanted {
                break;
            }
            let path = seat.path.clone();
            let share = size(&path);
            let known = self.fleet.events();
            let taker = Taker::new(&mut self.fleet, Some((seat, &mut numbers)));
            let mut part = OfPart {
                watcher,
                before: before / total,
                share: share / total,
                is_wanted: &mut is_wanted,
            };
            let outcome = read_into(&path, taker, &mut part);
            before += share;
            match outcome {
                Ok(was_cut) => {
                    read += 1;
                    cut.extend(was_cut.then(|| name(&path)));
                }
                Err(error) => {
                    let why = refusal(&path, &error);
                    self.complain(match self.fleet.events() > known {
                        true => say!("Only the part before the damage is shown: {why}"),
                        false => say!("Recording skipped: {why}"),
                    });
                    damaged = Some(error);
                }
            }
        }
        self.cut = !cut.is_empty();
        match damaged {
            Some(error) if read == 0 => return Err(error),
            _ => {}
        }
        if self.cut {
            self.complain(say!(
                "{} of {} truncated: {}. Everything before the cut was read.",
                cut.len(),
                plural(
                    seats.len() as u64,
                    say!(n: "recording is"),
                    say!(n: "recordings are")
                ),
                cut.join(", ")
            ));
        }
        Ok(())
    }

    fn complain(&mut self, text: String) {
        self.notes.push(Notice::error(text));
    }
}
