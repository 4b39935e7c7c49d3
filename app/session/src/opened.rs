//! A recording that was read whole, or a folder of them.

use std::path::Path;

use loadscope_exchange::ImportError;
use loadscope_trace::{Fleet, Run, plural};
use loadscope_words::say;

use super::Note;
use super::file::{Taker, complete, read_into, refusal};
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
    pub notes: Vec<Note>,
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
    let mut opened = Opened::default();
    if path.is_dir() {
        let folder = Folder::of(path)?;
        let skipped = folder.notes().into_iter().map(Note::note);
        opened.notes.extend(skipped);
        match &folder.recordings[..] {
            [] => return Err(folder.nothing()),
            [one] => opened.read_one(one, &mut progress)?,
            all => opened.read_all(all, &mut progress)?,
        }
    } else {
        opened.read_one(path, &mut progress)?;
    }
    complete(&mut opened.fleet);
    Ok(opened)
}

impl Opened {
    fn read_one(
        &mut self,
        path: &Path,
        progress: &mut dyn FnMut(f32) -> bool,
    ) -> Result<(), ImportError> {
        self.cut = read_into(path, Taker::new(&mut self.fleet, None), progress)?;
        Ok(())
    }

    /// Reads several as one session. One that is damaged is named, and does not keep the others from being looked at.
    fn read_all(
        &mut self,
        recordings: &[std::path::PathBuf],
        progress: &mut dyn FnMut(f32) -> bool,
    ) -> Result<(), ImportError> {
        let mut seats = seats(recordings);
        let mut numbers = Numbers::default();
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len()).max(1) as f32;
        let total: f32 = seats.iter().map(|seat| size(&seat.path)).sum();
        let (mut before, mut wanted, mut read) = (0.0, true, 0);
        let (mut cut, mut damaged) = (Vec::new(), None);
        for seat in &mut seats {
            if !wanted {
                break;
            }
            let path = seat.path.clone();
            let share = size(&path);
            let known = self.fleet.events();
            let taker = Taker::new(&mut self.fleet, Some((seat, &mut numbers)));
            let outcome = read_into(&path, taker, &mut |done| {
                wanted = progress((before + done * share) / total);
                wanted
            });
            before += share;
            match outcome {
                Ok(was_cut) => {
                    read += 1;
                    cut.extend(was_cut.then(|| name(&path)));
                }
                Err(error) => {
                    let what = match self.fleet.events() > known {
                        true => say!("It is shown as far as it was read"),
                        false => say!("It is left out"),
                    };
                    self.complain(say!("{}. {what}", refusal(&path, &error)));
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
                "{} of {} cut off in the middle: {}. Everything before the cut is shown",
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
        self.notes.push(Note::error(text));
    }
}
