//! Reading of a recording as a whole.

use std::path::Path;

use loadscope_exchange::ImportError;
use loadscope_insight::loaders::Loaders;
use loadscope_trace::{Fleet, Run, plural};
use loadscope_words::say;

use super::Notice;
use super::file::{EventApplier, ProgressListener, complete, describe_open_error, read_into};
use super::folder::{Folder, LoaderNumbers, name, placements};

/// A completely read recording.
#[derive(Debug, Default)]
pub struct Opened {
    /// All loaders.
    pub fleet: Fleet,
    /// True if a file is truncated.
    pub cut: bool,
    /// Notices about the files of a folder.
    pub notes: Vec<Notice>,
}

/// Reads the first shown loader of a recording, as [`open`] does.
///
/// # Errors
/// If the file cannot be opened or is damaged.
pub fn read_run(
    path: &Path,
    progress: impl FnMut(f32) -> bool,
) -> Result<(Run, bool), ImportError> {
    let opened = open(path, progress)?;
    let (_, run) = Loaders::of(opened.fleet, None);
    Ok((run, opened.cut))
}

/// Reads all loaders of a recording, of the streams of a program, of another tool's file, or of a folder of these.
/// `progress` receives the fraction that was read, and returns false to cancel.
///
/// # Errors
/// If the path cannot be opened or is damaged.
pub fn open(path: &Path, mut progress: impl FnMut(f32) -> bool) -> Result<Opened, ImportError> {
    open_with_progress(path, &mut progress)
}

/// Reads like [`open`], with the loaders so far at each progress report.
pub(super) fn open_with_progress(
    path: &Path,
    listener: &mut dyn ProgressListener,
) -> Result<Opened, ImportError> {
    let mut opened = Opened::default();
    if path.is_dir() {
        let folder = Folder::of(path)?;
        let skipped = folder.notes().into_iter().map(Notice::note);
        opened.notes.extend(skipped);
        match &folder.recordings[..] {
            [] => return Err(folder.nothing()),
            [one] => opened.read_one(one, listener)?,
            all => opened.read_all(all, listener)?,
        }
    } else {
        opened.read_one(path, listener)?;
    }
    complete(&mut opened.fleet);
    Ok(opened)
}

/// Progress of one of several recordings.
struct OfPart<'a> {
    listener: &'a mut dyn ProgressListener,
    /// Fraction read before this recording, and the fraction of this recording.
    before: f32,
    share: f32,
    is_wanted: &'a mut bool,
}

impl ProgressListener for OfPart<'_> {
    fn progress(&mut self, share: f32, fleet: &Fleet) -> bool {
        let share = self.before + share * self.share;
        *self.is_wanted = self.listener.progress(share, fleet);
        *self.is_wanted
    }
}

impl Opened {
    fn read_one(
        &mut self,
        path: &Path,
        listener: &mut dyn ProgressListener,
    ) -> Result<(), ImportError> {
        self.cut = read_into(path, EventApplier::new(&mut self.fleet, None), listener)?;
        Ok(())
    }

    /// Reads several recordings as one session. A damaged one is reported, and the others are still read.
    fn read_all(
        &mut self,
        recordings: &[std::path::PathBuf],
        listener: &mut dyn ProgressListener,
    ) -> Result<(), ImportError> {
        let mut placements = placements(recordings);
        let mut numbers = LoaderNumbers::default();
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len()).max(1) as f32;
        let total: f32 = placements
            .iter()
            .map(|placement| size(&placement.path))
            .sum();
        let (mut before, mut read) = (0.0, 0);
        let mut is_wanted = true;
        let (mut cut, mut damaged) = (Vec::new(), None);
        for placement in &mut placements {
            if !is_wanted {
                break;
            }
            let path = placement.path.clone();
            let share = size(&path);
            let known = self.fleet.events();
            let applier = EventApplier::new(&mut self.fleet, Some((placement, &mut numbers)));
            let mut part = OfPart {
                listener,
                before: before / total,
                share: share / total,
                is_wanted: &mut is_wanted,
            };
            let outcome = read_into(&path, applier, &mut part);
            before += share;
            match outcome {
                Ok(was_cut) => {
                    read += 1;
                    cut.extend(was_cut.then(|| name(&path)));
                }
                Err(error) => {
                    let why = describe_open_error(&path, &error);
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
                    placements.len() as u64,
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
