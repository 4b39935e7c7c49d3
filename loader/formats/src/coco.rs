//! COCO datasets: instances, captions and keypoints in a JSON file, images in a folder.

mod errors;
mod index;
mod mask;
mod outline;
mod warnings;

use std::ops::Range;
use std::path::{Path, PathBuf};

use index::{Annotation, ByImage, Category, Id, Image, Index, Value};
use loadscope_plan::dataset::{CocoSpec, CocoTask};
use loadscope_words::say;
use mask::{Mask, PointsLeft};

use crate::array::Array;
use crate::buffer::Buffer;
use crate::cell::{Cell, Picture, fields};
use crate::decompress;
use crate::error::{FormatError, Place};
use crate::exif;
use crate::json::Json;
use crate::rows::Rows;
use crate::slices::out_of_range;
use crate::stages::Stages;

/// Exclusive upper limit of named labels. A file may use any numbers.
const MOST_CLASSES: usize = 100_000;
/// torchvision's name of unused labels.
const UNUSED_LABEL: &str = "N/A";

/// Annotated images in the order of their ids. A row is `(image, target)`. The target depends on the task:
///
/// - instances: `{image_id, boxes, labels, area, iscrowd, masks}`, with boxes `x0, y0, x1, y1` as float32 `[n, 4]` and masks as uint8
///   `[n, height, width]`
/// - keypoints: the same with `keypoints`, float32 `[n, k, 3]`, instead of masks
/// - captions: `{image_id, captions}`
#[derive(Debug)]
pub struct Coco {
    folder: PathBuf,
    path: PathBuf,
    file: Buffer,
    index: Index,
    by_image: ByImage,
    task: CocoTask,
    has_masks: bool,
    classes: Vec<String>,
    notes: Vec<String>,
}

impl Coco {
    /// Opens the images of a folder that the annotations list.
    ///
    /// # Errors
    /// If the folder or the file is missing, the file is damaged, or it lists no images.
    pub fn open(spec: &CocoSpec) -> Result<Self, FormatError> {
        let (folder, annotations) = (Path::new(&spec.images), Path::new(&spec.annotations));
        if !folder.is_dir() {
            return Err(FormatError::no_folder(folder));
        }
        let file = decompress::open(annotations)?;
        let mut index = index::read(&file, annotations)?;
        let by_image = index::by_image(&mut index);
        let first = index.annotations.first();
        let task = match (spec.task, first) {
            (CocoTask::Auto, Some(first)) if first.caption.is_some() => CocoTask::Captions,
            (CocoTask::Auto, Some(first)) if first.keypoints.is_some() => CocoTask::Keypoints,
            (CocoTask::Auto, _) => CocoTask::Instances,
            (task, _) => task,
        };
        let mut notes = Vec::new();
        if by_image.lost > 0 {
            notes.push(format!(
                "{} annotations in {} are of pictures that it does not list, and are left out.",
                by_image.lost,
                annotations.display()
            ));
        }
        if task != CocoTask::Captions {
            notes.extend(warnings::warnings(&index, &by_image, &file, annotations));
            let names = index.images.iter();
            notes.extend(exif::note(names.map(|image| {
                folder.join(image.file_name.as_deref().unwrap_or_default())
            })));
        }
        Ok(Self {
            folder: folder.to_owned(),
            path: annotations.to_owned(),
            classes: classes(&index.categories),
            has_masks: spec.masks && task == CocoTask::Instances,
            file,
            index,
            by_image,
            task,
            notes,
        })
    }

    /// Returns the type of the annotations.
    pub fn task(&self) -> CocoTask {
        self.task
    }

    fn text(&self, part: &Range<usize>) -> &[u8] {
        self.file.get(part.clone()).unwrap_or_default()
    }

    /// Returns the annotations of the image at a position of the list.
    fn annotations_of(&self, position: usize) -> impl DoubleEndedIterator<Item = &Annotation> {
        let of = self.by_image.of.get(&position);
        let of = of.map(Vec::as_slice).unwrap_or_default();
        of.iter()
            .filter_map(|at| self.index.annotations.get(*at as usize))
    }

    /// Returns the target of an image: captions, or boxes with labels and the task's keypoints or masks.
    fn target(
        &self,
        position: usize,
        image: &Image,
        picture: &Picture,
    ) -> Result<Cell, FormatError> {
        let annotations: Vec<&Annotation> = self.annotations_of(position).collect();
        let mut target = vec![("image_id", Cell::from(&image.id))];
        if self.task == CocoTask::Captions {
            let captions = annotations
                .iter()
                .map(|annotation| self.caption(annotation));
            target.push(("captions", Cell::List(captions.collect::<Result<_, _>>()?)));
            return Ok(fields(target));
        }
        let (mut boxes, mut labels): (Vec<f32>, Vec<i64>) = Default::default();
        let (mut areas, mut crowds): (Vec<f32>, Vec<i64>) = Default::default();
        for annotation in &annotations {
            boxes.extend(self.corners(annotation)?);
            labels.push(self.required(
                annotation,
                annotation.category,
                "category_id",
                say!("an integer"),
            )?);
            areas.push(self.optional(annotation, annotation.area, "area", say!("a number"))?);
            crowds.push(self.optional(
                annotation,
                annotation.is_crowd,
                "iscrowd",
                say!("0 or 1"),
            )?);
        }
        target.push(("boxes", shaped(vec![annotations.len(), 4], &boxes)));
        target.push(("labels", Array::of(&labels).into()));
        target.push(("area", Array::of(&areas).into()));
        target.push(("iscrowd", Array::of(&crowds).into()));
        if self.task == CocoTask::Keypoints {
            target.push(("keypoints", self.keypoints(&annotations)?));
        }
        if self.has_masks {
            target.push(("masks", self.masks(&annotations, image, picture)?));
        }
        Ok(fields(target))
    }

    fn caption(&self, annotation: &Annotation) -> Result<Cell, FormatError> {
        let part = annotation.caption.as_ref();
        let part = part.ok_or_else(|| self.missing(annotation, "caption"))?;
        match Json::new(self.text(part)).and_then(|mut json| json.string()) {
            Ok(text) => Ok((&*text).into()),
            Err(_) => Err(self.wrong(annotation, part.start, "caption", say!("a string"))),
        }
    }

    /// Converts a box to its corners.
    fn corners(&self, annotation: &Annotation) -> Result<[f32; 4], FormatError> {
        let four = say!("four numbers: x, y, width, height");
        let four = self.required(annotation, annotation.bbox, "bbox", four)?;
        let [x, y, width, height] = four.map(|number| number as f32);
        Ok([x, y, x + width, y + height])
    }

    fn keypoints(&self, annotations: &[&Annotation]) -> Result<Cell, FormatError> {
        let mut all: Vec<f32> = Vec::new();
        let mut count = None;
        for annotation in annotations {
            let part = annotation.keypoints.as_ref();
            let part = part.ok_or_else(|| self.missing(annotation, "keypoints"))?;
            let numbers = Json::new(self.text(part)).and_then(|mut json| index::numbers(&mut json));
            let Ok(Some(numbers)) = numbers else {
                return Err(self.wrong(
                    annotation,
                    part.start,
                    "keypoints",
                    say!("a list of numbers"),
                ));
            };
            let points = numbers.len() / 3;
            if !numbers.len().is_multiple_of(3) || *count.get_or_insert(points) != points {
                let reason = say!(
                    "{} numbers differ from the keypoints of the other annotations",
                    numbers.len()
                );
                return Err(self.broken(annotation, part.start, "keypoints", &reason));
            }
            all.extend(numbers.into_iter().map(|number| number as f32));
        }
        Ok(shaped(
            vec![annotations.len(), count.unwrap_or_default(), 3],
            &all,
        ))
    }

    /// Draws the masks of an image. Each mask has the size of the image.
    fn masks(
        &self,
        annotations: &[&Annotation],
        image: &Image,
        picture: &Picture,
    ) -> Result<Cell, FormatError> {
        let (width, height) = self.size(image, picture)?;
        mask::check_size(width, height, annotations.len())
            .map_err(|reason| self.image_error(image, "width", reason))?;
        let left = &mut PointsLeft::default();
        let mut all = Vec::with_capacity(width * height * annotations.len());
        for annotation in annotations {
            let at = (annotation.segmentation.as_ref()).map_or(annotation.at, |part| part.start);
            let drawn = Mask::empty(width, height).and_then(|mut mask| {
                if let Some(part) = &annotation.segmentation {
                    outline::draw(self.text(part), &mut mask, left)?;
                }
                Ok(mask)
            });
            let drawn =
                drawn.map_err(|reason| self.broken(annotation, at, "segmentation", &reason))?;
            all.extend_from_slice(&drawn.pixels);
        }
        Ok(shaped(vec![annotations.len(), height, width], &all))
    }

    /// Returns the width and height of an image, from the annotations or else from the image file.
    fn size(&self, image: &Image, picture: &Picture) -> Result<(usize, usize), FormatError> {
        match (image.width, image.height) {
            (Value::Found(width), Value::Found(height)) => Ok((width as usize, height as usize)),
            (Value::WrongType(_), _) | (_, Value::WrongType(_)) => {
                let reason = say!("its width and height must be integers");
                Err(self.image_error(image, "width", reason))
            }
            _ => imagesize::blob_size(&picture.bytes)
                .map(|size| (size.width, size.height))
                .map_err(|_| {
                    fault!(Damaged, Place::named(picture.origin.to_string()), say!("its size cannot be read");
                        say!("Add width and height to the annotations, or replace the image"))
                }),
        }
    }
}

fn shaped<T: crate::array::Element>(shape: Vec<usize>, values: &[T]) -> Cell {
    Array::with_shape(shape, values)
        .unwrap_or_else(|_| Array::of(values))
        .into()
}

/// Returns the class names by label.
fn classes(categories: &[Category]) -> Vec<String> {
    let label = |one: &Category| match one.id {
        Id::Int(id) => usize::try_from(id).ok().filter(|id| *id < MOST_CLASSES),
        Id::Text(_) => None,
    };
    let labels: Vec<usize> = categories.iter().filter_map(label).collect();
    let most = labels.iter().copied().max();
    let (Some(most), true) = (most, labels.len() == categories.len()) else {
        return Vec::new();
    };
    let mut names = vec![UNUSED_LABEL.to_owned(); most + 1];
    for (label, one) in labels.into_iter().zip(categories) {
        if let Some(name) = names.get_mut(label) {
            name.clone_from(&one.name);
        }
    }
    names
}

impl Rows for Coco {
    fn len(&self) -> usize {
        self.by_image.order.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let position = self.by_image.order.get(index).copied();
        let found = position.and_then(|at| Some((at, self.index.images.get(at)?)));
        let Some((position, image)) = found else {
            return Err(out_of_range(&Place::file(&self.path), index, self.len()));
        };
        let picture = self.picture(image, stages)?;
        stages.enter("annotate");
        let target = self.target(position, image, &picture)?;
        Ok(Cell::Tuple(vec![picture.into(), target]))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the class of the annotation with the largest box for each image. An image without annotations has 0, which COCO does not
    /// use. Returns `None` for captions, or if a class has an invalid number.
    fn labels(&self) -> Option<Vec<u32>> {
        if self.task == CocoTask::Captions {
            return None;
        }
        let class = |at: &usize| match largest(self.annotations_of(*at)) {
            Some(annotation) => u32::try_from(annotation.category.found()?).ok(),
            None => Some(0),
        };
        self.by_image.order.iter().map(class).collect()
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Returns the first annotation among those with the largest box.
fn largest<'a>(
    annotations: impl DoubleEndedIterator<Item = &'a Annotation>,
) -> Option<&'a Annotation> {
    let size = |annotation: &Annotation| {
        (annotation.bbox.found()).map_or(0.0, |[_, _, width, height]| width * height)
    };
    // The iteration is reversed because `max_by` returns the last of equal items.
    annotations.rev().max_by(|a, b| size(a).total_cmp(&size(b)))
}

#[cfg(test)]
mod tests;
