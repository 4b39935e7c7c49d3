//! PASCAL VOC datasets: an XML file per image, image sets and masks.

mod annotation;
mod encoding;
mod folder;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use annotation::{Annotation, Object, broken, parse};
use loadscope_plan::dataset::{VocSpec, VocTask};
use loadscope_words::say;

use crate::array::Array;
use crate::cell::{Cell, PictureMode, fields};
use crate::error::{Fault, FormatError, Place};
use crate::exif;
use crate::file;
use crate::rows::Rows;
use crate::stages::Stages;

/// Maximum size of an annotation file, bytes.
const MAX_XML: u64 = 64 << 20;

/// VOC classes in label order. Labels begin at 1, and 0 is the background.
const CLASSES: &str = "aeroplane bicycle bird boat bottle bus car cat chair cow diningtable dog horse motorbike person pottedplant \
    sheep sofa train tvmonitor";
/// Name of label 0.
const BACKGROUND: &str = "__background__";

/// Annotated images. A row is `(image, {image_id, boxes, labels, difficult})`, with a `mask` if masks are loaded. Boxes are the
/// `xmin, ymin, xmax, ymax` of the XML as float32 `[n, 4]`.
#[derive(Debug)]
pub struct Voc {
    root: PathBuf,
    names: Vec<String>,
    has_masks: bool,
    has_annotations: bool,
    /// Class names including the background.
    classes: Vec<String>,
    labels: HashMap<String, i64>,
    notes: Vec<String>,
}

impl Voc {
    /// Opens the images of a set.
    ///
    /// # Errors
    /// If the folder or the image set is missing or empty. Damaged annotations are skipped here, and reported when their sample is loaded.
    pub fn open(spec: &VocSpec) -> Result<Self, FormatError> {
        let root = folder::root(spec.dir.as_ref(), spec.year.as_deref())?;
        let has_masks = spec.task == VocTask::Segmentation;
        let (names, notes) = folder::names(&root, &spec.set, has_masks)?;
        let mut voc = Self {
            has_annotations: root.join("Annotations").is_dir(),
            root,
            names,
            has_masks,
            classes: Vec::new(),
            labels: HashMap::new(),
            notes,
        };
        let classes = match spec.classes.is_empty() {
            true => voc.find_classes(&spec.set)?,
            false => spec.classes.clone(),
        };
        voc.classes = std::iter::once(BACKGROUND.to_owned())
            .chain(classes)
            .collect();
        voc.labels = (0..)
            .zip(&voc.classes)
            .map(|(label, name)| (name.clone(), label))
            .collect();
        let pictures = voc.names.iter();
        let note = exif::note(pictures.map(|name| folder::picture(&voc.root, name, None)));
        voc.notes.extend(note.filter(|_| voc.has_annotations));
        Ok(voc)
    }

    /// Returns the VOC classes if the first annotations have no others. Otherwise, returns those of the class lists (`cat_train.txt`), or
    /// else those of all annotations by name.
    fn find_classes(&mut self, set: &str) -> Result<Vec<String>, FormatError> {
        /// Number of examined annotations.
        const LOOK: usize = 32;
        let usual = || CLASSES.split(' ').map(str::to_owned).collect();
        if !self.has_annotations {
            return Ok(usual());
        }
        let first: Vec<_> = self.names.iter().take(LOOK).collect();
        let (mut usual_objects, mut unusual) = (0, None);
        for name in first {
            // The error of a damaged annotation is reported when its sample is loaded.
            let Ok(annotation) = self.annotation(name).map(|(read, _)| read) else {
                continue;
            };
            for object in annotation.objects {
                match CLASSES.split(' ').any(|class| class == object.name) {
                    true => usual_objects += 1,
                    false => unusual = unusual.or(Some((object.name, name.clone()))),
                }
            }
        }
        let Some((class, name)) = unusual else {
            return Ok(usual());
        };
        if usual_objects > 0 {
            self.notes.push(say!(
                "{} has the class '{class}', which is not a VOC class, so the labels are numbered differently from VOC. If it is misspelled, correct it there. Otherwise list all classes with classes=…;….",
                self.annotation_file(&name).display()
            ));
        }
        let lists =
            folder::all(&self.root.join("ImageSets").join("Main"), "txt").unwrap_or_default();
        let ending = format!("_{set}");
        let listed: Vec<String> = (lists.iter())
            .filter_map(|list| list.strip_suffix(&ending).map(str::to_owned))
            .collect();
        if !listed.is_empty() {
            return Ok(listed);
        }
        let mut found = BTreeSet::new();
        for name in &self.names {
            if let Ok((annotation, _)) = self.annotation(name) {
                found.extend(annotation.objects.into_iter().map(|object| object.name));
            }
        }
        self.notes.push(say!(
            "The classes were collected from {} annotations. To skip that, list them with classes=… in the order of their labels.",
            self.names.len()
        ));
        Ok(found.into_iter().collect())
    }

    fn annotation_file(&self, name: &str) -> PathBuf {
        self.root.join("Annotations").join(format!("{name}.xml"))
    }

    fn annotation(&self, name: &str) -> Result<(Annotation, Vec<u8>), FormatError> {
        let path = self.annotation_file(name);
        let text = file::read(&path, MAX_XML).map_err(|error| match error.fault {
            Fault::Missing => fault!(Missing, Place::file(&path), say!("the list names this annotation, but it does not exist");
                say!("Copy it there, or remove the name from the list")),
            _ => error,
        })?;
        let text = encoding::utf8(text, &path)?;
        Ok((parse(&text, &path)?, text))
    }

    /// Returns the label of an object's class.
    fn label(&self, object: &Object, name: &str, text: &[u8]) -> Result<i64, FormatError> {
        let label = self.labels.get(&object.name).copied();
        label.filter(|label| *label > 0).ok_or_else(|| {
            let reason = say!("there is no class '{}'", object.name);
            let mut error = broken(text, &self.annotation_file(name), object.at, &reason);
            error.remedy = say!("Name all classes with classes=…;…").to_owned();
            error
        })
    }

    fn target(
        &self,
        name: &str,
        objects: &[Object],
        text: &[u8],
    ) -> Result<Vec<(&'static str, Cell)>, FormatError> {
        let corners: Vec<f32> = objects.iter().flat_map(|object| object.corners).collect();
        let labels = objects.iter().map(|object| self.label(object, name, text));
        let labels: Vec<i64> = labels.collect::<Result<_, _>>()?;
        let difficult: Vec<i64> = objects
            .iter()
            .map(|object| i64::from(object.is_difficult))
            .collect();
        let boxes = Array::with_shape(vec![objects.len(), 4], &corners)
            .unwrap_or_else(|_| Array::of(&corners));
        Ok(vec![
            ("image_id", name.into()),
            ("boxes", boxes.into()),
            ("labels", Array::of(&labels).into()),
            ("difficult", Array::of(&difficult).into()),
        ])
    }
}

impl Rows for Voc {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let Some(name) = self.names.get(index) else {
            bail!(OutOfRange, Place::file(&self.root).row(index as u64), say!("there is no such row");
                say!("Choose an index below the number of images"));
        };
        stages.enter("read");
        let (annotation, text) = match self.has_annotations {
            true => self.annotation(name)?,
            false => (Annotation::default(), Vec::new()),
        };
        let path = folder::picture(&self.root, name, annotation.filename.as_deref());
        let needed_by = || match self.has_annotations {
            true => say!("the annotation {}", self.annotation_file(name).display()),
            false => say!("the list").to_owned(),
        };
        let picture = file::picture(&path, PictureMode::Color, needed_by, stages)?;
        let mut target = self.target(name, &annotation.objects, &text)?;
        if self.has_masks {
            let mask = self
                .root
                .join("SegmentationClass")
                .join(format!("{name}.png"));
            let needed_by = || say!("the list of {}", self.root.display());
            target.push((
                "mask",
                file::picture(&mask, PictureMode::Classes, needed_by, stages)?.into(),
            ));
        }
        Ok(Cell::Tuple(vec![picture.into(), fields(target)]))
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Returns the class of the largest object for each image, or 0 (background) without objects. Returns `None` without annotations.
    fn labels(&self) -> Option<Vec<u32>> {
        // A damaged annotation has class 0, and is reported when its sample is loaded.
        let class = |name: &String| match self.annotation(name) {
            Ok((annotation, _)) => largest(&annotation.objects)
                .and_then(|object| self.labels.get(&object.name))
                .and_then(|label| u32::try_from(*label).ok())
                .unwrap_or_default(),
            Err(_) => 0,
        };
        self.has_annotations
            .then(|| self.names.iter().map(class).collect())
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Returns the first object among those with the largest box.
fn largest(objects: &[Object]) -> Option<&Object> {
    let size = |object: &Object| {
        let [x0, y0, x1, y1] = object.corners;
        (x1 - x0) * (y1 - y0)
    };
    // The iteration is reversed because `max_by` returns the last of equal items.
    objects
        .iter()
        .rev()
        .max_by(|a, b| size(a).total_cmp(&size(b)))
}

#[cfg(test)]
mod tests;
