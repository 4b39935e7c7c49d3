//! Errors with the annotation, the key and the position.

use loadscope_words::say;

use super::Coco;
use super::index::{Annotation, Id, Image, Value};
use crate::cell::{Picture, PictureMode};
use crate::error::{Fault, FormatError, Place};
use crate::file::{self, line_and_column};
use crate::json::{Json, JsonError, Number};
use crate::stages::Stages;

/// Length of the search for the id of an annotation, bytes.
const NEAR: usize = 4096;
/// Maximum length of a value in an error, characters.
const SHOWN: usize = 40;

impl Coco {
    /// Returns the value, or an error if it is missing or has the wrong type.
    pub(super) fn required<T: Copy>(
        &self,
        annotation: &Annotation,
        value: Value<T>,
        key: &str,
        expected: &str,
    ) -> Result<T, FormatError> {
        match value {
            Value::Found(value) => Ok(value),
            Value::Missing => Err(self.missing(annotation, key)),
            Value::WrongType(at) => Err(self.wrong(annotation, at, key, expected)),
        }
    }

    /// Returns the value, or 0 if it is missing.
    pub(super) fn optional<T: Copy + Default>(
        &self,
        annotation: &Annotation,
        value: Value<T>,
        key: &str,
        expected: &str,
    ) -> Result<T, FormatError> {
        match value {
            Value::Missing => Ok(T::default()),
            value => self.required(annotation, value, key, expected),
        }
    }

    pub(super) fn missing(&self, annotation: &Annotation, key: &str) -> FormatError {
        self.broken(annotation, annotation.at, key, say!("it is missing"))
    }

    /// Returns the error for a value of the wrong type.
    pub(super) fn wrong(
        &self,
        annotation: &Annotation,
        at: usize,
        key: &str,
        expected: &str,
    ) -> FormatError {
        let shown: String = self.near(at).chars().take(SHOWN).collect();
        let end = Json::new(shown.as_bytes()).and_then(|mut json| json.skip());
        let shown = match end.ok().and_then(|part| shown.get(part)) {
            Some(value) => value.to_owned(),
            None => format!("{shown}…"),
        };
        self.broken(annotation, at, key, &say!("{shown} is not {expected}"))
    }

    pub(super) fn broken(
        &self,
        annotation: &Annotation,
        at: usize,
        key: &str,
        reason: &str,
    ) -> FormatError {
        let reason = match self.id_of(annotation) {
            Some(id) => say!("in annotation {id}, {reason}"),
            None => say!("in an annotation, {reason}"),
        };
        fault!(Damaged, self.place(at).key(key), reason; say!("Correct or remove the annotation there"))
    }

    pub(super) fn image_error(
        &self,
        image: &Image,
        key: &str,
        reason: impl Into<String>,
    ) -> FormatError {
        let reason = reason.into();
        fault!(Damaged, self.place(image.at).key(key), say!("in image {}, {reason}", image.id);
            say!("Correct or remove the image there"))
    }

    fn place(&self, at: usize) -> Place {
        let (line, column) = line_and_column(&self.file, at);
        Place::file(&self.path).line(line).column(column)
    }

    /// Returns the text at an offset, at most [`NEAR`] bytes.
    fn near(&self, at: usize) -> &str {
        let rest = self.file.get(at..).unwrap_or_default();
        let near = rest.get(..NEAR).unwrap_or(rest);
        let valid = match std::str::from_utf8(near) {
            Ok(text) => return text,
            Err(e) => e.valid_up_to(),
        };
        std::str::from_utf8(near.get(..valid).unwrap_or_default()).unwrap_or_default()
    }

    /// Returns the id of an annotation, if it is near the start.
    fn id_of(&self, annotation: &Annotation) -> Option<Id> {
        let mut json = Json::new(self.near(annotation.at).as_bytes()).ok()?;
        let mut id = None;
        // The text may end in the middle of the annotation.
        let _ = json.object(|json, key| {
            match (&*key, json.peek()) {
                ("id", Some(b'"')) => id = Some(Id::Text(json.string()?.into())),
                ("id", _) => id = json.number()?.and_then(Number::as_int).map(Id::Int),
                _ => {
                    json.skip()?;
                }
            }
            Ok::<_, JsonError>(())
        });
        id
    }

    /// Reads the file of an image.
    pub(super) fn picture(
        &self,
        image: &Image,
        stages: &mut dyn Stages,
    ) -> Result<Picture, FormatError> {
        let Some(name) = &image.file_name else {
            return Err(self.image_error(
                image,
                "file_name",
                say!("it is missing or not a string"),
            ));
        };
        let needed_by = || self.path.display().to_string();
        let path = self.folder.join(name);
        file::picture(&path, PictureMode::Color, needed_by, stages).map_err(|mut error| {
            if error.fault == Fault::Missing {
                if name.contains("://") {
                    error.remedy =
                        say!("Download the image, and write its path as file_name").to_owned();
                } else if name.contains('\\') {
                    error.remedy = say!("Write / instead of \\ in file_name").to_owned();
                }
            }
            error
        })
    }
}
