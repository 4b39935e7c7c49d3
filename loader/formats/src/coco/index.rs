//! Index of the annotations in a file. Large values stay in the file.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use loadscope_words::say;

use crate::buffer::Buffer;
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};
use crate::file::line_and_column;
use crate::json::{Json, JsonError, Number};

/// Id, a `dict` key in pycocotools. Therefore 1.0 equals 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Id {
    Int(i128),
    Text(Box<str>),
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<&Id> for Cell {
    fn from(id: &Id) -> Self {
        match id {
            Id::Int(number) => Number::Int(*number).into(),
            Id::Text(text) => (&**text).into(),
        }
    }
}

/// Value of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Value<T> {
    #[default]
    Missing,
    /// Value of the wrong type, and its offset.
    WrongType(usize),
    Found(T),
}

impl<T: Copy> Value<T> {
    pub(super) fn found(self) -> Option<T> {
        match self {
            Self::Found(value) => Some(value),
            Self::Missing | Self::WrongType(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Image {
    pub id: Id,
    pub file_name: Option<String>,
    pub width: Value<u32>,
    pub height: Value<u32>,
    /// Offset of the object.
    pub at: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Category {
    pub id: Id,
    pub name: String,
}

/// Byte range of a value in the file.
pub(super) type Part = Option<Range<usize>>;

#[derive(Clone, Debug, Default)]
pub(super) struct Annotation {
    /// Position of the image in the list.
    pub image: Option<u32>,
    pub category: Value<i64>,
    /// x, y, width, height.
    pub bbox: Value<[f64; 4]>,
    pub area: Value<f32>,
    pub is_crowd: Value<i64>,
    pub segmentation: Part,
    pub keypoints: Part,
    pub caption: Part,
    /// Offset of the object.
    pub at: usize,
}

/// Contents of an annotation file.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub images: Vec<Image>,
    pub categories: Vec<Category>,
    pub annotations: Vec<Annotation>,
    /// Number of areas that are lists of one number.
    pub listed_areas: usize,
    /// Own id and image id of each annotation, until `by_image` resolves them.
    pub(super) ids: Vec<(Option<Id>, Option<Id>)>,
}

/// Error in the file.
struct Broken {
    at: usize,
    key: Option<&'static str>,
    reason: String,
    remedy: &'static str,
}

impl From<JsonError> for Broken {
    fn from(error: JsonError) -> Self {
        Self {
            at: error.at,
            key: None,
            reason: error.reason(),
            remedy: error.remedy(),
        }
    }
}

/// Reads the file.
pub(super) fn read(file: &Buffer, path: &Path) -> Result<Index, FormatError> {
    let index = whole(file).map_err(|broken| {
        let (line, column) = line_and_column(file, broken.at);
        let mut place = Place::file(path).line(line).column(column);
        place.key = broken.key.map(str::to_owned);
        FormatError::new(Fault::Damaged, place, broken.reason, broken.remedy)
    })?;
    if index.images.is_empty() {
        bail!(Damaged, Place::file(path).key("images"), say!("it lists no images");
            say!("Give the COCO annotation file: a JSON object with images, annotations and categories"));
    }
    Ok(index)
}

fn whole(file: &[u8]) -> Result<Index, Broken> {
    let mut json = Json::new(file)?;
    let mut index = Index::default();
    json.object(|json, key| match &*key {
        "images" => {
            index.images.clear();
            list(json, |json| {
                index.images.push(image(json)?);
                Ok(())
            })
        }
        "categories" => {
            index.categories.clear();
            list(json, |json| {
                index.categories.extend(category(json)?);
                Ok(())
            })
        }
        "annotations" => {
            (index.annotations, index.ids, index.listed_areas) = Default::default();
            list(json, |json| annotation(json, &mut index))
        }
        _ => Ok(json.skip().map(drop)?),
    })?;
    json.end()?;
    Ok(index)
}

/// Reads a list or null.
fn list(
    json: &mut Json<'_>,
    each: impl FnMut(&mut Json<'_>) -> Result<(), Broken>,
) -> Result<(), Broken> {
    match json.peek() {
        Some(b'n') => Ok(json.skip().map(drop)?),
        _ => json.list(each),
    }
}

/// Reads an id. Returns `None` for another type.
fn id(json: &mut Json<'_>) -> Result<Option<Id>, JsonError> {
    Ok(match json.peek() {
        Some(b'"') => Some(Id::Text(json.string()?.into())),
        _ => json.number()?.and_then(Number::as_int).map(Id::Int),
    })
}

/// Reads an integer.
fn whole_number<T: TryFrom<i128>>(json: &mut Json<'_>) -> Result<Value<T>, JsonError> {
    let at = json.position();
    if json.peek() == Some(b'n') {
        json.skip()?;
        return Ok(Value::Missing);
    }
    let number = json.number()?.and_then(Number::as_int);
    let number = number.and_then(|number| T::try_from(number).ok());
    Ok(number.map_or(Value::WrongType(at), Value::Found))
}

fn image(json: &mut Json<'_>) -> Result<Image, Broken> {
    let at = json.position();
    let (mut of, mut file_name) = (None, None);
    let (mut width, mut height) = Default::default();
    json.object(|json, key| {
        match &*key {
            "id" => of = id(json)?,
            "file_name" if json.peek() == Some(b'"') => file_name = Some(json.string()?.into()),
            "width" => width = whole_number(json)?,
            "height" => height = whole_number(json)?,
            _ => {
                json.skip()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    let id = of.ok_or_else(|| Broken {
        at,
        key: Some("images"),
        reason: say!("an image has no id that is an integer or a string").to_owned(),
        remedy: say!("Give each image its id"),
    })?;
    Ok(Image {
        id,
        file_name,
        width,
        height,
        at,
    })
}

fn category(json: &mut Json<'_>) -> Result<Option<Category>, Broken> {
    let (mut of, mut name) = (None, None);
    json.object(|json, key| {
        match &*key {
            "id" => of = id(json)?,
            "name" if json.peek() == Some(b'"') => name = Some(json.string()?.into()),
            _ => {
                json.skip()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    Ok(of.map(|id| Category {
        name: name.unwrap_or_else(|| id.to_string()),
        id,
    }))
}

fn annotation(json: &mut Json<'_>, index: &mut Index) -> Result<(), Broken> {
    let mut annotation = Annotation {
        at: json.position(),
        ..Annotation::default()
    };
    let (mut own, mut image, mut listed) = (None, None, false);
    json.object(|json, key| {
        match &*key {
            "id" => own = id(json)?,
            "image_id" => image = id(json)?,
            "category_id" => annotation.category = whole_number(json)?,
            "iscrowd" => annotation.is_crowd = whole_number(json)?,
            "bbox" => annotation.bbox = bbox(json)?,
            "area" => (annotation.area, listed) = area(json)?,
            "segmentation" => annotation.segmentation = part(json)?,
            "keypoints" => annotation.keypoints = part(json)?,
            "caption" => annotation.caption = part(json)?,
            _ => {
                json.skip()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    index.listed_areas += usize::from(listed);
    index.ids.push((own, image));
    index.annotations.push(annotation);
    Ok(())
}

/// Skips a value and returns its byte range, or `None` for null.
fn part(json: &mut Json<'_>) -> Result<Part, JsonError> {
    let is_null = json.peek() == Some(b'n');
    let part = json.skip()?;
    Ok((!is_null).then_some(part))
}

fn bbox(json: &mut Json<'_>) -> Result<Value<[f64; 4]>, JsonError> {
    let at = json.position();
    let numbers = numbers(json)?;
    let four = numbers.and_then(|numbers| numbers.try_into().ok());
    Ok(four.map_or(Value::WrongType(at), Value::Found))
}

/// Reads an area. The second value is true if the area is a list of one number.
fn area(json: &mut Json<'_>) -> Result<(Value<f32>, bool), JsonError> {
    let at = json.position();
    let is_list = json.peek() == Some(b'[');
    let number = match json.peek() {
        Some(b'n') => return json.skip().map(|_| (Value::Missing, false)),
        Some(b'[') => match numbers(json)?.as_deref() {
            Some([one]) => Some(*one),
            _ => None,
        },
        _ => json.number()?.map(Number::as_f64),
    };
    Ok(match number {
        Some(number) => (Value::Found(number as f32), is_list),
        None => (Value::WrongType(at), false),
    })
}

/// Reads a list of numbers. Returns `None` for another type.
pub(super) fn numbers(json: &mut Json<'_>) -> Result<Option<Vec<f64>>, JsonError> {
    if json.peek() != Some(b'[') {
        return json.skip().map(|_| None);
    }
    let mut all = Some(Vec::new());
    json.list(|json| {
        match (json.number()?, &mut all) {
            (Some(number), Some(all)) => all.push(number.as_f64()),
            _ => all = None,
        }
        Ok::<_, JsonError>(())
    })?;
    Ok(all)
}

/// Annotations of each image, and problems with ids.
#[derive(Debug, Default)]
pub(super) struct ByImage {
    /// Positions of the images in the order of their ids.
    pub order: Vec<usize>,
    /// Annotations by position of the image.
    pub of: HashMap<usize, Vec<u32>>,
    /// Number of annotations whose image is not listed.
    pub lost: usize,
    /// Example of a repeated image id, and the number of images with the id of an earlier one.
    pub same_images: Option<(Id, usize)>,
    /// Example of a repeated annotation id, and the number of annotations with the id of an earlier one.
    pub duplicate_ids: Option<(Id, usize)>,
}

/// Finds the annotations of each image by id, like pycocotools. The last of equal ids wins.
pub(super) fn by_image(index: &mut Index) -> ByImage {
    let mut found = ByImage::default();
    let mut by_id: HashMap<Id, usize> = HashMap::with_capacity(index.images.len());
    for (at, image) in index.images.iter().enumerate() {
        if by_id.insert(image.id.clone(), at).is_some() {
            let count = found.same_images.take().map_or(1, |(_, count)| count + 1);
            found.same_images = Some((image.id.clone(), count));
        }
    }
    found.order = by_id.values().copied().collect();
    (found.order).sort_by_key(|at| index.images.get(*at).map(|image| image.id.clone()));
    let ids = std::mem::take(&mut index.ids);
    let mut last: HashMap<&Id, u32> = HashMap::with_capacity(ids.len());
    for (at, (own, _)) in (0u32..).zip(&ids) {
        if let Some(own) = own
            && last.insert(own, at).is_some()
        {
            let count = found.duplicate_ids.take().map_or(1, |(_, count)| count + 1);
            found.duplicate_ids = Some((own.clone(), count));
        }
    }
    for ((at, (own, image)), annotation) in (0u32..).zip(&ids).zip(&mut index.annotations) {
        let position = image.as_ref().and_then(|image| by_id.get(image));
        annotation.image = position.and_then(|at| u32::try_from(*at).ok());
        let Some(position) = position else {
            found.lost += 1;
            continue;
        };
        let at = own
            .as_ref()
            .and_then(|own| last.get(own))
            .copied()
            .unwrap_or(at);
        found.of.entry(*position).or_default().push(at);
    }
    found
}
