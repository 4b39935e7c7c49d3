//! What a file of annotations holds: where each part of it is, without reading it all.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::path::Path;

use loadscope_words::say;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::buffer::Buffer;
use crate::error::{Fault, FormatError, Place};
use crate::file::line_and_column;

/// A picture of the list.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Image {
    pub id: i64,
    pub file_name: String,
    #[serde(default)]
    pub width: Option<u32>,
    #[serde(default)]
    pub height: Option<u32>,
}

/// A class.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Category {
    pub id: i64,
    #[serde(default)]
    pub name: String,
}

/// Where a part of the file is.
pub(super) type Part = Option<Range<usize>>;

/// One annotation.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub image: i64,
    pub category: i64,
    /// x, y, width, height.
    pub bbox: Option<[f64; 4]>,
    pub area: f32,
    pub is_crowd: i64,
    pub segmentation: Part,
    pub keypoints: Part,
    pub caption: Part,
    /// Where its bbox, or else what it has, begins.
    pub at: usize,
}

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub images: Vec<Image>,
    pub categories: Vec<Category>,
    pub notes: Vec<Note>,
    has_images: bool,
}

/// Reads the file.
pub(super) fn read(file: &Buffer, path: &Path) -> Result<Index, FormatError> {
    let text = std::str::from_utf8(file).map_err(|e| {
        let (line, column) = line_and_column(file, e.valid_up_to());
        broken(path, line, column, say!("it is not text in UTF-8"))
    })?;
    let mut json = serde_json::Deserializer::from_str(text);
    let read = Whole { text }
        .deserialize(&mut json)
        .and_then(|index| json.end().map(|()| index));
    let index = read.map_err(|e| {
        // What serde_json says ends with the place, which stands in front already.
        let shown = e.to_string();
        let reason = shown
            .rsplit_once(" at line ")
            .map_or(shown.as_str(), |(reason, _)| reason);
        broken(path, e.line() as u64, e.column() as u64, reason)
    })?;
    if !index.has_images || index.images.is_empty() {
        return Err(FormatError::new(
            Fault::Damaged,
            Place::file(path).key("images"),
            say!("it lists no images"),
            say!(
                "Give the COCO annotation file: a JSON object with images, annotations and categories"
            ),
        ));
    }
    Ok(index)
}

fn broken(path: &Path, line: u64, column: u64, reason: &str) -> FormatError {
    FormatError::new(
        Fault::Damaged,
        Place::file(path).line(line).column(column),
        reason,
        say!("Correct the JSON there, or copy the file again"),
    )
}

/// An annotation as it is written; parts that may be long stay text.
#[derive(Deserialize)]
struct Written<'a> {
    image_id: i64,
    #[serde(default)]
    category_id: i64,
    #[serde(default, borrow)]
    bbox: Option<&'a RawValue>,
    #[serde(default)]
    area: Option<f64>,
    #[serde(default)]
    iscrowd: Option<Flag>,
    #[serde(default, borrow)]
    segmentation: Option<&'a RawValue>,
    #[serde(default, borrow)]
    keypoints: Option<&'a RawValue>,
    #[serde(default, borrow)]
    caption: Option<&'a RawValue>,
}

/// 0 or 1, or a truth.
#[derive(Clone, Copy)]
struct Flag(i64);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Flag;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(say!("0 or 1"))
            }

            fn visit_bool<E>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(i64::from(value)))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Flag, E> {
                Ok(Flag(i64::try_from(value).unwrap_or(i64::MAX)))
            }
        }
        json.deserialize_any(Number)
    }
}

/// The outermost object.
struct Whole<'a> {
    text: &'a str,
}

impl<'de> DeserializeSeed<'de> for Whole<'de> {
    type Value = Index;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Index, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Whole<'de> {
    type Value = Index;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(say!("an object with images, annotations and categories"))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Index, A::Error> {
        let mut index = Index::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match key.as_ref() {
                "images" => {
                    index.has_images = true;
                    index.images = map.next_value()?;
                }
                "categories" => index.categories = map.next_value()?,
                "annotations" => index.notes = map.next_value_seed(Notes { text: self.text })?,
                _ => {
                    map.next_value::<serde::de::IgnoredAny>()?;
                }
            }
        }
        Ok(index)
    }
}

/// The list of annotations, of which only what is needed is kept.
struct Notes<'a> {
    text: &'a str,
}

impl<'de> DeserializeSeed<'de> for Notes<'de> {
    type Value = Vec<Note>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Vec<Note>, D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Notes<'de> {
    type Value = Vec<Note>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(say!("a list of annotations"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Note>, A::Error> {
        let mut notes = Vec::new();
        while let Some(written) = list.next_element::<Written<'de>>()? {
            notes.push(self.note(&written)?);
        }
        Ok(notes)
    }
}

impl Notes<'_> {
    fn note<E: serde::de::Error>(&self, written: &Written<'_>) -> Result<Note, E> {
        let part = |raw: Option<&RawValue>| raw.map(|raw| within(self.text, raw.get()));
        let all = [
            written.bbox,
            written.segmentation,
            written.keypoints,
            written.caption,
        ];
        let at = all
            .into_iter()
            .flatten()
            .next()
            .map_or(0, |raw| within(self.text, raw.get()).start);
        let bbox = written
            .bbox
            .map(|raw| serde_json::from_str::<[f64; 4]>(raw.get()));
        let bbox = bbox.transpose().map_err(|_| {
            E::custom(say!(
                "a bbox is not a list of four numbers: x, y, width, height"
            ))
        })?;
        Ok(Note {
            image: written.image_id,
            category: written.category_id,
            bbox,
            area: written.area.unwrap_or_default() as f32,
            is_crowd: written.iscrowd.map_or(0, |flag| flag.0),
            segmentation: part(written.segmentation),
            keypoints: part(written.keypoints),
            caption: part(written.caption),
            at,
        })
    }
}

/// Where a part of a text is.
fn within(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

/// The annotations of each picture, and the number of those whose picture is not listed.
pub(super) fn by_image(index: &Index) -> (Vec<usize>, HashMap<i64, Vec<u32>>, usize) {
    // As pycocotools: by id, and of two with the same id the last.
    let mut by_id: HashMap<i64, usize> = HashMap::with_capacity(index.images.len());
    for (at, image) in index.images.iter().enumerate() {
        by_id.insert(image.id, at);
    }
    let mut order: Vec<usize> = by_id.values().copied().collect();
    order.sort_by_key(|at| index.images.get(*at).map(|image| image.id));
    let mut of: HashMap<i64, Vec<u32>> = HashMap::with_capacity(index.images.len());
    let mut lost = 0;
    for (at, note) in (0u32..).zip(&index.notes) {
        match by_id.contains_key(&note.image) {
            true => of.entry(note.image).or_default().push(at),
            false => lost += 1,
        }
    }
    (order, of, lost)
}

/// What pycocotools takes as it is, and is most likely a mistake: sentences.
pub(super) fn doubts(index: &Index, path: &Path) -> Vec<String> {
    let known: HashSet<i64> = index.categories.iter().map(|one| one.id).collect();
    let unknown: Vec<i64> = (index.notes.iter().map(|note| note.category))
        .filter(|category| !known.contains(category))
        .collect();
    let inverted = |note: &&Note| note.bbox.is_some_and(|[_, _, w, h]| w < 0.0 || h < 0.0);
    let inverted = index.notes.iter().filter(inverted).count();
    let path = path.display();
    let mut doubts = Vec::new();
    if let Some(first) = unknown.first().filter(|_| !known.is_empty()) {
        doubts.push(format!(
            "{} of {} annotations in {path} have a category_id that its categories do not list ({first}, for example).",
            unknown.len(),
            index.notes.len()
        ));
    }
    if inverted > 0 {
        doubts.push(format!(
            "{inverted} of {} annotations in {path} have a bbox of negative width or height; it is x, y, width, height.",
            index.notes.len()
        ));
    }
    doubts
}

/// A number list that may hold anything else.
pub(super) fn numbers(text: &str) -> Result<Vec<f64>, serde_json::Error> {
    serde_json::from_str(text)
}

/// How an object is cut out.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Outline<'a> {
    /// Polygons of corners x, y, x, y …
    Polygons(Vec<Vec<f64>>),
    /// Runs of pixels.
    Runs {
        #[serde(borrow)]
        counts: Counts<'a>,
        /// Height and width.
        size: [usize; 2],
    },
}

/// Runs of pixels, as numbers or as text.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Counts<'a> {
    Numbers(Vec<u64>),
    #[serde(borrow)]
    Text(Cow<'a, str>),
}
