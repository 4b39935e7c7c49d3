//! COCO: instances, captions and keypoints in JSON, beside a folder of pictures.

mod index;
mod labels;
mod mask;

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use index::{Category, Counts, Image, Index, Note, Outline};
use loadscope_words::say;
use mask::{Mask, PointsLeft};

use crate::array::Array;
use crate::buffer::Buffer;
use crate::cell::{Cell, Picture, PictureMode, fields};
use crate::error::{Fault, FormatError, Place};
use crate::file;
use crate::rows::Rows;
use crate::stages::Stages;

/// Classes are named up to this label; a file may number them as it likes.
const MOST_CLASSES: i64 = 100_000;
/// What torchvision calls labels that stand for nothing.
const NOTHING: &str = "N/A";

/// What the annotations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Boxes, labels and masks.
    Instances,
    /// Sentences.
    Captions,
    /// Boxes, labels and keypoints.
    Keypoints,
}

/// What is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// `None`: what the first annotation is.
    pub task: Option<Task>,
    /// Whether masks are drawn, where the task has some.
    pub has_masks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            task: None,
            has_masks: true,
        }
    }
}

/// Annotated pictures, by their ids. A row is `(picture, target)`; the target of instances is
/// `{image_id, boxes, labels, area, iscrowd, masks}` with boxes `x0, y0, x1, y1`, float32 `[n, 4]`, and masks uint8
/// `[n, height, width]`; that of keypoints has `keypoints`, float32 `[n, k, 3]`, instead of masks; that of captions is
/// `{image_id, captions}`.
#[derive(Debug)]
pub struct Coco {
    folder: PathBuf,
    path: PathBuf,
    file: Buffer,
    index: Index,
    /// The positions of the pictures in the index, by their ids.
    order: Vec<usize>,
    /// The annotations of a picture.
    of: HashMap<i64, Vec<u32>>,
    task: Task,
    has_masks: bool,
    classes: Vec<String>,
    notes: Vec<String>,
}

impl Coco {
    /// The pictures in `folder` that `annotations` lists.
    ///
    /// # Errors
    /// If one of them is missing, the file is damaged, or it lists no pictures.
    pub fn open(folder: &Path, annotations: &Path, options: &Options) -> Result<Self, FormatError> {
        if !folder.is_dir() {
            return Err(FormatError::new(
                Fault::Missing,
                Place::file(folder),
                say!("there is no such image folder"),
                say!("Check the spelling, or whether the disk is connected"),
            ));
        }
        let file = Buffer::map(annotations).map_err(|e| FormatError::reading(annotations, &e))?;
        let index = index::read(&file, annotations)?;
        let (order, of, lost) = index::by_image(&index);
        let first = index.notes.first();
        let task = options.task.unwrap_or(match first {
            Some(note) if note.caption.is_some() => Task::Captions,
            Some(note) if note.keypoints.is_some() => Task::Keypoints,
            _ => Task::Instances,
        });
        let mut notes = Vec::new();
        if lost > 0 {
            notes.push(format!(
                "{lost} annotations in {} are of pictures that it does not list, and are left out.",
                annotations.display()
            ));
        }
        if task != Task::Captions {
            notes.extend(index::doubts(&index, annotations));
        }
        Ok(Self {
            folder: folder.to_owned(),
            path: annotations.to_owned(),
            classes: classes(&index.categories),
            has_masks: options.has_masks && task == Task::Instances,
            file,
            index,
            order,
            of,
            task,
            notes,
        })
    }

    /// What its annotations are.
    pub fn task(&self) -> Task {
        self.task
    }

    fn text(&self, part: &Range<usize>) -> &str {
        let bytes = self.file.get(part.clone()).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    fn broken(&self, at: usize, reason: impl Into<String>) -> FormatError {
        let (line, column) = file::line_and_column(&self.file, at);
        FormatError::new(
            Fault::Damaged,
            Place::file(&self.path).line(line).column(column),
            reason,
            say!("Correct or remove the annotation there"),
        )
    }

    fn target(&self, image: &Image, picture: &Picture) -> Result<Cell, FormatError> {
        let of = self
            .of
            .get(&image.id)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let notes: Vec<&Note> = of
            .iter()
            .filter_map(|at| self.index.notes.get(*at as usize))
            .collect();
        let mut target = vec![("image_id", Cell::Int(image.id))];
        if self.task == Task::Captions {
            let captions = notes.iter().map(|note| self.caption(note));
            target.push(("captions", Cell::List(captions.collect::<Result<_, _>>()?)));
            return Ok(fields(target));
        }
        let boxes = notes.iter().map(|note| self.corners(note));
        let boxes: Vec<f32> = boxes
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect();
        let labels: Vec<i64> = notes.iter().map(|note| note.category).collect();
        let areas: Vec<f32> = notes.iter().map(|note| note.area).collect();
        let crowds: Vec<i64> = notes.iter().map(|note| note.is_crowd).collect();
        target.push(("boxes", shaped(vec![notes.len(), 4], &boxes)));
        target.push(("labels", Array::of(&labels).into()));
        target.push(("area", Array::of(&areas).into()));
        target.push(("iscrowd", Array::of(&crowds).into()));
        if self.task == Task::Keypoints {
            target.push(("keypoints", self.keypoints(&notes)?));
        }
        if self.has_masks {
            target.push(("masks", self.masks(&notes, image, picture)?));
        }
        Ok(fields(target))
    }

    fn caption(&self, note: &Note) -> Result<Cell, FormatError> {
        let part = note.caption.as_ref();
        let part =
            part.ok_or_else(|| self.broken(note.at, say!("an annotation has no caption")))?;
        let text: String = serde_json::from_str(self.text(part))
            .map_err(|_| self.broken(part.start, say!("a caption is not text")))?;
        Ok(text.into())
    }

    /// The corners of a box.
    fn corners(&self, note: &Note) -> Result<[f32; 4], FormatError> {
        let [x, y, width, height] = note
            .bbox
            .ok_or_else(|| self.broken(note.at, say!("an annotation has no bbox")))?;
        let [x, y, width, height] = [x as f32, y as f32, width as f32, height as f32];
        Ok([x, y, x + width, y + height])
    }

    fn keypoints(&self, notes: &[&Note]) -> Result<Cell, FormatError> {
        let mut all: Vec<f32> = Vec::new();
        let mut count = None;
        for note in notes {
            let part = note.keypoints.as_ref();
            let part =
                part.ok_or_else(|| self.broken(note.at, say!("an annotation has no keypoints")))?;
            let numbers = index::numbers(self.text(part)).map_err(|_| {
                self.broken(part.start, say!("its keypoints are not a list of numbers"))
            })?;
            let points = numbers.len() / 3;
            if !numbers.len().is_multiple_of(3) || *count.get_or_insert(points) != points {
                return Err(self.broken(
                    part.start,
                    say!(
                        "{} numbers differ from the keypoints of the other annotations",
                        numbers.len()
                    ),
                ));
            }
            all.extend(numbers.into_iter().map(|number| number as f32));
        }
        Ok(shaped(
            vec![notes.len(), count.unwrap_or_default(), 3],
            &all,
        ))
    }

    /// The masks of a picture, each of its size.
    fn masks(
        &self,
        notes: &[&Note],
        image: &Image,
        picture: &Picture,
    ) -> Result<Cell, FormatError> {
        let (width, height) = match (image.width, image.height) {
            (Some(width), Some(height)) => (width as usize, height as usize),
            _ => self.size_of(picture)?,
        };
        mask::check_size(width, height, notes.len())
            .map_err(|reason| self.broken(0, say!("{}: {reason}", image.file_name)))?;
        let left = &mut PointsLeft::default();
        let mut all = Vec::with_capacity(width * height * notes.len());
        for note in notes {
            let drawn = self.mask(note, width, height, left)?;
            all.extend_from_slice(&drawn.pixels);
        }
        Ok(shaped(vec![notes.len(), height, width], &all))
    }

    fn mask(
        &self,
        note: &Note,
        width: usize,
        height: usize,
        left: &mut PointsLeft,
    ) -> Result<Mask, FormatError> {
        let at = note
            .segmentation
            .as_ref()
            .map_or(note.at, |part| part.start);
        let mut draw = || -> Result<Mask, String> {
            let mut mask = Mask::empty(width, height)?;
            let Some(part) = &note.segmentation else {
                return Ok(mask);
            };
            let outline: Outline = serde_json::from_str(self.text(part)).map_err(|_| {
                say!("a segmentation must be polygons, [[x, y, …], …], or RLE, {{\"counts\": …, \"size\": [height, width]}}").to_owned()
            })?;
            match outline {
                Outline::Polygons(polygons) => {
                    for polygon in polygons {
                        mask.draw(&polygon, left)?;
                    }
                }
                Outline::Runs { counts, size } => {
                    if size != [height, width] {
                        let [h, w] = size;
                        return Err(say!(
                            "a mask has {w}×{h} pixels, but its image has {width}×{height}"
                        ));
                    }
                    match counts {
                        Counts::Numbers(runs) => mask.draw_runs(runs)?,
                        Counts::Text(text) => mask.draw_runs(mask::runs(text.as_bytes())?)?,
                    }
                }
            }
            Ok(mask)
        };
        draw().map_err(|reason| self.broken(at, reason))
    }

    /// Width and height of a picture whose size the annotations do not tell.
    fn size_of(&self, picture: &Picture) -> Result<(usize, usize), FormatError> {
        imagesize::blob_size(&picture.bytes)
            .map(|size| (size.width, size.height))
            .map_err(|e| {
                FormatError::new(
                    Fault::Damaged,
                    Place::named(picture.origin.to_string()),
                    say!("its size cannot be read ({e})"),
                    say!("Add width and height to the annotations, or replace the image"),
                )
            })
    }
}

fn shaped<T: crate::array::Element>(shape: Vec<usize>, values: &[T]) -> Cell {
    Array::with_shape(shape, values)
        .unwrap_or_else(|_| Array::of(values))
        .into()
}

/// Names by label.
fn classes(categories: &[Category]) -> Vec<String> {
    let most = categories.iter().map(|one| one.id).max().unwrap_or(-1);
    let in_range = categories
        .iter()
        .all(|one| (0..MOST_CLASSES).contains(&one.id));
    if !in_range || categories.is_empty() {
        return Vec::new();
    }
    let mut names = vec![NOTHING.to_owned(); usize::try_from(most).unwrap_or_default() + 1];
    for one in categories {
        if let Some(name) = usize::try_from(one.id)
            .ok()
            .and_then(|at| names.get_mut(at))
        {
            name.clone_from(&one.name);
        }
    }
    names
}

impl Rows for Coco {
    fn len(&self) -> usize {
        self.order.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let image = self
            .order
            .get(index)
            .and_then(|at| self.index.images.get(*at));
        let Some(image) = image else {
            return Err(FormatError::new(
                Fault::OutOfRange,
                Place::file(&self.path).row(index as u64),
                say!("there is no such row"),
                say!("Ask for a smaller index"),
            ));
        };
        let path = self.folder.join(&image.file_name);
        let needed_by = || self.path.display().to_string();
        let picture = file::picture(&path, PictureMode::Colour, needed_by, stages)?;
        stages.enter("annotate");
        let target = self.target(image, &picture)?;
        Ok(Cell::Tuple(vec![picture.into(), target]))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn labels(&self) -> Option<Vec<u32>> {
        self.classes_of_pictures()
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

#[cfg(test)]
mod tests;
