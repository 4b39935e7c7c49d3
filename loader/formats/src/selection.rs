//! Selection of the columns of a table, and images from a column.

mod label;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::cell::{Cell, Picture, PictureMode};
use crate::error::{Fault, FormatError, Place};
use crate::file;
use crate::rows::Rows;
use crate::stages::{Stages, Untimed};

use label::{Labels, labels};
use loadscope_words::say;

/// Selected columns, and the columns of images and classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Selected columns in this order, or all if empty.
    pub columns: Vec<String>,
    /// Column of images: encoded bytes, file paths, or Hugging Face's `{bytes, path}`.
    pub image: Option<String>,
    /// Column of classes: integers, or texts, which are numbered in sorted order.
    pub label: Option<String>,
    /// Base folder of relative paths.
    pub folder: PathBuf,
    /// Name of the table for messages.
    pub table: String,
}

/// Rows with selected columns.
#[derive(Debug)]
pub struct Selected<R> {
    rows: R,
    of: Selection,
    /// Classes from the class column, after the first access.
    labels: OnceLock<Option<Labels>>,
}

impl<R: Rows> Selected<R> {
    /// Selects columns of `rows`, which are `dict`s.
    ///
    /// # Errors
    /// If the first row lacks one of the columns, or cannot be read although columns are selected.
    pub fn new(rows: R, of: Selection) -> Result<Self, FormatError> {
        let all = Self {
            rows,
            of,
            labels: OnceLock::new(),
        };
        let chooses = !all.is_plain() || all.of.label.is_some();
        if chooses && !all.rows.is_empty() {
            let first = all.rows.row(0, &mut Untimed)?;
            all.check(&first)?;
        }
        Ok(all)
    }

    fn is_plain(&self) -> bool {
        self.of.columns.is_empty() && self.of.image.is_none()
    }

    fn check(&self, row: &Cell) -> Result<(), FormatError> {
        let fields = match row {
            Cell::Map(fields) => fields.as_slice(),
            _ => &[],
        };
        let mut wanted = (self.of.columns.iter())
            .chain(&self.of.image)
            .chain(&self.of.label);
        match wanted.find(|name| !fields.iter().any(|(key, _)| **key == ***name)) {
            None => Ok(()),
            Some(name) => Err(self.missing(name, fields, 0)),
        }
    }

    fn missing(&self, name: &str, fields: &[(Arc<str>, Cell)], row: usize) -> FormatError {
        let names: Vec<&str> = fields.iter().map(|(key, _)| &**key).collect();
        FormatError::new(
            Fault::NoSuchKey,
            Place::named(&self.of.table).row(row as u64).key(name),
            say!("there is no such column"),
            match names.as_slice() {
                [] => say!("Use it for columns of tables only").to_owned(),
                names => say!("Choose one of {}", names.join(", ")),
            },
        )
    }

    /// Keeps the selected columns of a row in their order, and reads its image column.
    fn select_columns(
        &self,
        row: Cell,
        index: usize,
        stages: &mut dyn Stages,
    ) -> Result<Cell, FormatError> {
        if self.is_plain() {
            return Ok(row);
        }
        let Cell::Map(mut fields) = row else {
            let name = self.of.columns.iter().chain(&self.of.image).next();
            return Err(self.missing(name.map_or("", String::as_str), &[], index));
        };
        if !self.of.columns.is_empty() {
            let mut kept = Vec::with_capacity(self.of.columns.len());
            for name in &self.of.columns {
                let at = fields.iter().position(|(key, _)| **key == **name);
                let at = at.ok_or_else(|| self.missing(name, &fields, index))?;
                kept.push(fields.swap_remove(at));
            }
            fields = kept;
        }
        if let Some(image) = &self.of.image {
            let found = fields.iter_mut().find(|(key, _)| **key == **image);
            if let Some((_, cell)) = found {
                let inner = std::mem::replace(cell, Cell::Null);
                *cell = self.picture(inner, index, stages)?;
            }
        }
        Ok(Cell::Map(fields))
    }

    /// Converts the value of the image column, which is bytes, a path or Hugging Face's struct.
    fn picture(
        &self,
        cell: Cell,
        index: usize,
        stages: &mut dyn Stages,
    ) -> Result<Cell, FormatError> {
        let name = self.of.image.as_deref().unwrap_or_default();
        Ok(match cell {
            Cell::Null => Cell::Null,
            Cell::Picture(picture) => picture.into(),
            Cell::Bytes(bytes) => Cell::Picture(Picture {
                bytes,
                origin: say!("in '{name}' of row {index} of {}", self.of.table).into(),
                mode: PictureMode::Color,
            }),
            Cell::Text(path) => {
                let needed_by = || say!("row {index} of {}", self.of.table);
                let path = self.of.folder.join(&*path);
                file::picture(&path, PictureMode::Color, needed_by, stages)?.into()
            }
            Cell::Map(fields) => {
                // Hugging Face's struct has bytes or else a path.
                let pick = |name: &str| {
                    let found = fields.iter().find(|(key, _)| &**key == name);
                    found
                        .map(|(_, cell)| cell)
                        .filter(|cell| **cell != Cell::Null)
                        .cloned()
                };
                match pick("bytes").or_else(|| pick("path")) {
                    Some(cell @ (Cell::Bytes(_) | Cell::Text(_))) => {
                        self.picture(cell, index, stages)?
                    }
                    _ => return Err(self.no_picture(name, index)),
                }
            }
            _ => return Err(self.no_picture(name, index)),
        })
    }

    fn no_picture(&self, name: &str, index: usize) -> FormatError {
        fault!(WrongType, Place::named(&self.of.table).row(index as u64).key(name),
            say!("it is neither an encoded image nor the path of one");
            say!("Choose another image column"))
    }
}

impl<R: Rows> Rows for Selected<R> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, index: usize, stages: &mut dyn Stages) -> Result<Cell, FormatError> {
        let row = self.rows.row(index, stages)?;
        self.select_columns(row, index, stages)
    }

    fn rows(
        &self,
        indices: &[usize],
        stages: &mut dyn Stages,
    ) -> Option<Result<Vec<Cell>, FormatError>> {
        let rows = match self.rows.rows(indices, stages)? {
            Ok(rows) => rows,
            Err(error) => return Some(Err(error)),
        };
        let kept = rows
            .into_iter()
            .zip(indices)
            .map(|(row, index)| self.select_columns(row, *index, stages));
        Some(kept.collect())
    }

    fn has_rows(&self) -> bool {
        self.rows.has_rows()
    }

    /// Names from the class column are available only after a call of `labels`.
    fn classes(&self) -> &[String] {
        match (&self.of.label, self.labels.get()) {
            (Some(_), Some(Some(labels))) if !labels.names.is_empty() => &labels.names,
            _ => self.rows.classes(),
        }
    }

    fn labels(&self) -> Option<Vec<u32>> {
        let Some(name) = &self.of.label else {
            return self.rows.labels();
        };
        let read = || {
            let values = self.rows.column(name)?.ok()?;
            labels(&values)
        };
        let labels = self.labels.get_or_init(read).as_ref();
        labels.map(|labels| labels.of_rows.clone())
    }

    /// Returns the values of a column, even of an unselected one.
    fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
        self.rows.column(name)
    }

    fn lengths(&self) -> Option<Vec<u64>> {
        self.rows.lengths()
    }

    fn notes(&self) -> &[String] {
        self.rows.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::cell::fields;

    #[derive(Debug)]
    struct Table(Vec<Cell>);

    impl Rows for Table {
        fn len(&self) -> usize {
            self.0.len()
        }

        fn row(&self, index: usize, _: &mut dyn Stages) -> Result<Cell, FormatError> {
            Ok(self.0[index].clone())
        }

        fn column(&self, name: &str) -> Option<Result<Vec<Cell>, FormatError>> {
            let value = |row: &Cell| match row {
                Cell::Map(fields) => fields.iter().find(|f| *f.0 == *name).map(|f| f.1.clone()),
                _ => None,
            };
            self.0.iter().map(value).collect::<Option<_>>().map(Ok)
        }
    }

    fn table(images: impl IntoIterator<Item = Cell>) -> Table {
        let row = |cell| fields([("a", Cell::Int(1)), ("b", "x".into()), ("image", cell)]);
        Table(images.into_iter().map(row).collect())
    }

    fn of(columns: &[&str], image: Option<&str>) -> Selection {
        Selection {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            image: image.map(str::to_owned),
            label: None,
            folder: "/no/such".into(),
            table: "t.csv".to_owned(),
        }
    }

    #[test]
    fn columns_have_the_requested_order() {
        let all = Selected::new(table([Cell::Null]), of(&["b", "a"], None)).unwrap();
        let row = all.row(0, &mut Untimed).unwrap();
        assert_eq!(row, fields([("b", "x".into()), ("a", Cell::Int(1))]));
        let plain = Selected::new(table([Cell::Null]), of(&[], None)).unwrap();
        assert_eq!(
            plain.row(0, &mut Untimed),
            table([Cell::Null]).row(0, &mut Untimed)
        );
        let error = Selected::new(table([Cell::Null]), of(&["c"], None))
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "t.csv, row 0, 'c': there is no such column. Choose one of a, b, image."
        );
        assert!(Selected::new(Table(vec![Cell::Int(1)]), of(&["c"], None)).is_err());
    }

    #[test]
    fn a_label_column_gives_labels_and_classes() {
        let named = |label: &str| Selection {
            label: Some(label.to_owned()),
            ..of(&["a"], None)
        };
        let all = Selected::new(table([Cell::Null, Cell::Null]), named("b")).unwrap();
        assert!(all.classes().is_empty());
        assert_eq!(all.labels(), Some(vec![0, 0]));
        assert_eq!(all.classes(), ["x"]);
        let row = all.row(0, &mut Untimed).unwrap();
        assert_eq!(row, fields([("a", Cell::Int(1))]));
        let all = Selected::new(table([Cell::Null]), named("a")).unwrap();
        assert_eq!(all.labels(), Some(vec![1]));
        let error = Selected::new(table([Cell::Null]), named("c")).unwrap_err();
        assert!(error.to_string().contains("'c': there is no such column"));
    }

    #[test]
    fn image_cells_are_bytes_or_paths() {
        let bytes = Cell::Bytes(Buffer::from(vec![1, 2]));
        let both = fields([("bytes", bytes.clone()), ("path", "p".into())]);
        let path = fields([("bytes", Cell::Null), ("path", "p.jpg".into())]);
        let cells = [bytes, both, Cell::Null, path, "q.jpg".into(), Cell::Int(3)];
        let all = Selected::new(table(cells), of(&["image"], Some("image"))).unwrap();
        let cell = |index| match all.row(index, &mut Untimed) {
            Ok(Cell::Map(mut fields)) => Ok(fields.remove(0).1),
            other => other,
        };
        for index in [0, 1] {
            let Ok(Cell::Picture(picture)) = cell(index) else {
                panic!("no image");
            };
            assert_eq!(&*picture.bytes, [1, 2]);
        }
        assert_eq!(cell(2), Ok(Cell::Null));
        for (index, says) in [
            (3, "/no/such/p.jpg"),
            (4, "/no/such/q.jpg"),
            (5, "neither an encoded image"),
        ] {
            let error = cell(index).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
