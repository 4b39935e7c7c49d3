//! Images with annotations for detection, segmentation, keypoints and captions.

use loadscope_trace::{BatchContent, Field, FieldData};

use super::path::Slot;

/// Maximum number of boxes per image. More are not distinguishable.
const MAX_BOXES: usize = 512;

/// Images of a batch, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotated {
    /// One sample per kept image.
    pub samples: Vec<Sample>,
}

/// An image and its annotations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The field with its pixels, and the image's position in that field.
    pub picture: (usize, usize),
    /// Width and height before the recording scaled it down, pixels.
    pub size: (f64, f64),
    /// Boxes around objects.
    pub boxes: Vec<Boxed>,
    /// Masks of single objects in the order of the boxes, as field and position. Nonzero pixels belong to the object.
    pub masks: Vec<(usize, usize)>,
    /// A mask of classes, as field and position. Its values are labels.
    pub classes: Option<(usize, usize)>,
    /// Keypoints per object.
    pub keypoints: Vec<Vec<Keypoint>>,
    /// Captions of the image, in the order of the batch.
    pub captions: Vec<String>,
}

/// A box around an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Boxed {
    /// Left, top, right, bottom, in pixels of the original image.
    pub corners: [f64; 4],
    /// Number of its class.
    pub label: Option<i64>,
    /// Name of its class, if known.
    pub name: Option<String>,
}

impl Boxed {
    /// Returns `dog`, `17`, or nothing.
    pub fn title(&self) -> Option<String> {
        let number = || self.label.map(|label| label.to_string());
        self.name.clone().or_else(number)
    }
}

/// A keypoint of an object in COCO's format.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keypoint {
    /// Distance from the left edge, pixels of the original image.
    pub x: f64,
    /// Distance from the upper edge.
    pub y: f64,
    /// 0: not labeled, 1: hidden, 2: visible.
    pub visibility: f64,
}

impl Annotated {
    /// Returns the images if they have annotations or do not stack. Other images are shown as plain fields.
    pub(super) fn of(content: &BatchContent, classes: &[String]) -> Option<Self> {
        let reading = Reading::of(content, classes);
        let mut samples = reading.pictures();
        let is_single = samples.iter().all(|s| reading.is_single(s.picture.0));
        for (k, sample) in samples.iter_mut().enumerate() {
            reading.annotate(k, sample);
        }
        let any = samples.iter().any(Sample::is_annotated);
        (!samples.is_empty() && (any || is_single)).then_some(Self { samples })
    }

    /// Returns true if this field is an image or an overlay of one, so it is not shown again.
    pub fn covers(&self, field: usize) -> bool {
        self.samples.iter().any(|sample| {
            let is_mask = sample.masks.iter().any(|(f, _)| *f == field);
            sample.picture.0 == field || is_mask || sample.classes.is_some_and(|(f, _)| f == field)
        })
    }
}

impl Sample {
    /// Returns true if the image has annotations.
    pub fn is_annotated(&self) -> bool {
        let Self {
            picture: _,
            size: _,
            boxes,
            masks,
            classes,
            keypoints,
            captions,
        } = self;
        let nothing = boxes.is_empty() && masks.is_empty() && keypoints.is_empty();
        !nothing || classes.is_some() || !captions.is_empty()
    }
}

struct Reading<'a> {
    content: &'a BatchContent,
    slots: Vec<Slot<'a>>,
    classes: &'a [String],
}

impl<'a> Reading<'a> {
    fn of(content: &'a BatchContent, classes: &'a [String]) -> Self {
        let slots = content.fields.iter().map(|field| Slot::of(&field.name));
        Self {
            content,
            slots: slots.collect(),
            classes,
        }
    }

    fn fields(&self) -> impl Iterator<Item = (usize, &Field, &Slot<'a>)> {
        let both = self.content.fields.iter().zip(&self.slots);
        both.enumerate().map(|(k, (field, slot))| (k, field, slot))
    }

    /// Returns true if the field is one image of one sample.
    fn is_single(&self, field: usize) -> bool {
        let field = self.content.fields.get(field);
        field.is_some_and(|f| f.shape.len() == 3 && kept(f) == 1 && !f.name.is_empty())
    }

    fn pictures(&self) -> Vec<Sample> {
        let is_mask = |slot: &Slot<'_>| slot.is(&MASKS) || slot.is(&CLASSES);
        let mut single: Vec<(usize, Sample)> = Vec::new();
        let mut stacked = Vec::new();
        for (at, field, slot) in self.fields() {
            if field.is_derived() || is_mask(slot) {
                continue;
            }
            match (kept(field), slot.sample) {
                (0, _) => {}
                (1, Some(sample)) if self.is_single(at) => single.push((sample, one(at, 0, field))),
                (count, _) if stacked.is_empty() => {
                    stacked = (0..count).map(|which| one(at, which, field)).collect();
                }
                _ => {}
            }
        }
        if single.is_empty() {
            return stacked;
        }
        single.sort_by_key(|(sample, _)| *sample);
        single.dedup_by_key(|(sample, _)| *sample);
        single.into_iter().map(|(_, picture)| picture).collect()
    }

    /// Finds the first field with one of these keys that belongs to sample `k`, and the row of that sample. Row `None`
    /// means the whole field.
    fn about(&self, k: usize, keys: &[&str]) -> Option<(usize, &Field, Option<usize>)> {
        let mut of_key = self.fields().filter(|(_, _, slot)| slot.is(keys));
        of_key.find_map(|(at, field, slot)| match slot.sample {
            Some(sample) => (sample == k).then_some((at, field, None)),
            None => Some((at, field, Some(k))),
        })
    }

    fn annotate(&self, k: usize, sample: &mut Sample) {
        sample.boxes = self.boxes(k, sample.size);
        sample.masks = self.masks(k);
        sample.classes = self.about(k, &CLASSES).and_then(|(at, field, row)| {
            let which = row.unwrap_or(0);
            (which < kept(field)).then_some((at, which))
        });
        sample.keypoints = self.keypoints(k);
        sample.captions = self.captions(k);
    }

    fn boxes(&self, k: usize, size: (f64, f64)) -> Vec<Boxed> {
        let Some((_, field, row)) = self.about(k, &BOXES) else {
            return Vec::new();
        };
        let rows: Vec<[f64; 4]> = tuples(field, row);
        let labels = self.about(k, &LABELS).map(|(_, field, row)| {
            let labels: Vec<[f64; 1]> = tuples(field, row);
            labels
        });
        // DETR stores boxes as center, width and height, relative to the image.
        let are_shares = size.0 > 4.0
            && rows.iter().flatten().all(|v| (0.0..=1.0).contains(v))
            && rows.iter().flatten().any(|v| *v > 0.0);
        let is_middle = are_shares && self.about(k, &["class_labels"]).is_some();
        let mut boxes = Vec::new();
        for (n, corners) in rows.into_iter().enumerate().take(MAX_BOXES) {
            let label = labels.as_ref().and_then(|labels| labels.get(n));
            let label = label.map(|[label]| *label as i64);
            // Padding rows have no area.
            if !corners.iter().all(|v| v.is_finite()) || corners == [0.0; 4] {
                continue;
            }
            let [a, b, c, d] = corners;
            let corners = match (are_shares, is_middle) {
                (false, _) => corners,
                (true, false) => [a * size.0, b * size.1, c * size.0, d * size.1],
                (true, true) => [
                    (a - c / 2.0) * size.0,
                    (b - d / 2.0) * size.1,
                    (a + c / 2.0) * size.0,
                    (b + d / 2.0) * size.1,
                ],
            };
            let name = label.and_then(|label| self.classes.get(usize::try_from(label).ok()?));
            boxes.push(Boxed {
                corners,
                label,
                name: name.cloned(),
            });
        }
        boxes
    }

    fn masks(&self, k: usize) -> Vec<(usize, usize)> {
        // The shape is `[n, h, w]` per sample, or `[batch, h, w]`.
        let Some((at, field, row)) = self.about(k, &MASKS) else {
            return Vec::new();
        };
        match row {
            None => (0..kept(field)).map(|which| (at, which)).collect(),
            Some(row) if field.shape.len() == 3 && row < kept(field) => vec![(at, row)],
            Some(_) => Vec::new(),
        }
    }

    fn keypoints(&self, k: usize) -> Vec<Vec<Keypoint>> {
        let Some((_, field, row)) = self.about(k, &["keypoints"]) else {
            return Vec::new();
        };
        let points: Vec<[f64; 3]> = tuples(field, row);
        let each = match *field.shape.as_slice() {
            [.., each, 3] => usize::try_from(each).unwrap_or(0),
            _ => 0,
        };
        if each == 0 {
            return Vec::new();
        }
        let point = |[x, y, visibility]: &[f64; 3]| Keypoint {
            x: *x,
            y: *y,
            visibility: *visibility,
        };
        let objects = points.chunks(each).take(MAX_BOXES);
        objects
            .map(|object| object.iter().map(point).collect())
            .collect()
    }

    fn captions(&self, k: usize) -> Vec<String> {
        let named = self.about(k, &["captions", "caption", "text", "txt"]);
        if let Some((_, field, row)) = named {
            let FieldData::Text(texts) = &field.data else {
                return Vec::new();
            };
            return match row {
                None => texts.clone(),
                Some(row) => texts.get(row).cloned().into_iter().collect(),
            };
        }
        // torchvision's CocoCaptions has a list of captions per sample, without a key.
        let mut unnamed = self.fields().filter(|(_, _, slot)| slot.key.is_none());
        let found = unnamed.find_map(|(_, field, slot)| match &field.data {
            FieldData::Text(texts) if slot.sample == Some(k) => Some(texts.clone()),
            _ => None,
        });
        found.unwrap_or_default()
    }
}

const BOXES: [&str; 3] = ["boxes", "bboxes", "bbox"];
const LABELS: [&str; 4] = ["labels", "class_labels", "label", "category_id"];
const MASKS: [&str; 1] = ["masks"];
const CLASSES: [&str; 3] = ["mask", "segmentation", "semantic_mask"];

fn kept(field: &Field) -> usize {
    match &field.data {
        FieldData::Pictures(pictures) => pictures.count(),
        FieldData::Omitted | FieldData::Numbers(_) | FieldData::Text(_) => 0,
    }
}

fn one(at: usize, which: usize, field: &Field) -> Sample {
    let sizes: Vec<f64> = field.shape.iter().map(|s| *s as f64).collect();
    let size = match *sizes.as_slice() {
        [.., c, height, width] if c == 1.0 || c == 3.0 => (width, height),
        [.., height, width, c] if c == 1.0 || c == 3.0 => (width, height),
        [.., height, width] => (width, height),
        _ => (1.0, 1.0),
    };
    Sample {
        picture: (at, which),
        size: (size.0.max(1.0), size.1.max(1.0)),
        ..Sample::default()
    }
}

/// Reads rows of `N` numbers: the whole field, or one sample of a stacked batch.
fn tuples<const N: usize>(field: &Field, row: Option<usize>) -> Vec<[f64; N]> {
    let FieldData::Numbers(values) = &field.data else {
        return Vec::new();
    };
    let is_of_n = N == 1 || field.shape.last() == Some(&(N as i64));
    let sizes = field.shape.iter().map(|s| usize::try_from(*s).unwrap_or(0));
    let per_sample = match row {
        Some(_) => sizes.skip(1).fold(1, usize::saturating_mul),
        None => values.len(),
    };
    if !is_of_n || per_sample == 0 {
        return Vec::new();
    }
    let start = row.unwrap_or(0).saturating_mul(per_sample);
    let part = values.get(start..start.saturating_add(per_sample).min(values.len()));
    let (rows, _) = part.unwrap_or_default().as_chunks::<N>();
    rows.to_vec()
}
