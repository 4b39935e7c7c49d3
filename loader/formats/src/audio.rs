//! Folders of WAV, FLAC and OGG files. A sample is a waveform `[channels, frames]` and its rate.

mod decode;
mod folder;
mod wav;

use std::path::{Path, PathBuf};

use loadscope_words::say;

use crate::array::{Array, Dtype};
use crate::cell::{Cell, fields};
use crate::error::{FormatError, Place};
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::Stages;

/// Maximum size of a sound file, bytes.
const LARGEST: u64 = 1 << 30;

/// Sounds like the transposed result of `soundfile.read(path, dtype="float32", always_2d=True)`. Sample i is a `dict` of `waveform`, a
/// float32 array `[channels, frames]`, and `rate`, frames per second. With a folder per class, it also has `label`, the position of the
/// class in name order.
#[derive(Debug)]
pub struct Sounds {
    files: Vec<(PathBuf, Option<u32>)>,
    classes: Vec<String>,
    notes: Vec<String>,
    place: Place,
}

impl Sounds {
    /// Lists a folder of sounds, a folder with one folder per class, or a single file.
    ///
    /// # Errors
    /// If the path cannot be read or has no sounds.
    pub fn open(path: &Path) -> Result<Self, FormatError> {
        let found = folder::list(path)?;
        Ok(Self {
            files: found.files,
            classes: found.classes,
            notes: found.notes,
            place: Place::file(path),
        })
    }

    /// Returns the files in order, with their classes.
    pub fn files(&self) -> &[(PathBuf, Option<u32>)] {
        &self.files
    }
}

/// Returns the waveform of a sound file and its rate.
pub(crate) fn waveform(bytes: Vec<u8>, path: &Path, place: &Place) -> Result<Cell, FormatError> {
    let sound = decode::decode(bytes, path, place)?;
    let frames = sound.planes.first().map_or(0, Vec::len);
    let mut samples = Vec::with_capacity(sound.planes.len() * frames * size_of::<f32>());
    for sample in sound.planes.iter().flatten() {
        samples.extend_from_slice(&sample.to_ne_bytes());
    }
    let shape = vec![sound.planes.len(), frames];
    let waveform = Array::new(Dtype::Float32, shape, samples.into())
        .map_err(|e| decode::damaged(place, e.to_string()))?;
    Ok(fields([
        ("waveform", waveform.into()),
        ("rate", Cell::Int(sound.rate.into())),
    ]))
}

impl Rows for Sounds {
    fn len(&self) -> usize {
        self.files.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let Some((path, label)) = self.files.get(index) else {
            return Err(out_of_range(&self.place, index, self.len()));
        };
        stages.enter("read");
        let bytes = loadscope_files::read_bytes(path, say!("audio"), LARGEST)
            .map_err(|e| FormatError::reading(path, &e))?;
        stages.enter("decode");
        let mut sample = waveform(bytes, path, &Place::file(path))?;
        if let (Cell::Map(entries), Some(label)) = (&mut sample, label) {
            entries.push(("label".into(), Cell::Int((*label).into())));
        }
        Ok(sample)
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.files.iter().map(|(_, label)| *label).collect()
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        self.files
            .iter()
            .map(|(path, _)| decode::frames(path))
            .collect()
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}
