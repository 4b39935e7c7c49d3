//! Tables with fixed columns.

use egui::{Color32, Response, Ui};

use super::rows::{Cell, Marks, button, row};
use crate::theme::Palette;

/// Column of a table.
pub struct Column<'a> {
    name: &'a str,
    width: f32,
    has_numbers: bool,
}

impl<'a> Column<'a> {
    /// Creates a column of left-aligned words.
    pub fn words(name: &'a str, width: f32) -> Self {
        let has_numbers = false;
        Self {
            name,
            width,
            has_numbers,
        }
    }

    /// Creates a column of right-aligned numbers.
    pub fn numbers(name: &'a str, width: f32) -> Self {
        let has_numbers = true;
        Self {
            name,
            width,
            has_numbers,
        }
    }
}

/// Text in a row.
pub struct Text {
    text: String,
    color: Option<Color32>,
}

impl Text {
    /// Sets the text color.
    pub fn color(self, color: Color32) -> Self {
        let color = Some(color);
        Self { color, ..self }
    }

    /// Emphasizes the text.
    pub fn strong(self, palette: &Palette) -> Self {
        self.color(palette.strong)
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        let text = text.into();
        Self { text, color: None }
    }
}

/// Table whose head has been shown.
pub struct Table<'a> {
    columns: Vec<Column<'a>>,
}

impl<'a> Table<'a> {
    /// Shows the column names.
    pub fn new(ui: &mut Ui, columns: impl IntoIterator<Item = Column<'a>>) -> Self {
        let columns: Vec<Column<'_>> = columns.into_iter().collect();
        let palette = Palette::of(ui);
        let head = columns
            .iter()
            .map(|c| Cell::heading(c.name, c.width, c.has_numbers, palette));
        row(ui, &head.collect::<Vec<_>>(), Marks::default());
        Self { columns }
    }

    /// Shows a row.
    pub fn row(
        &self,
        ui: &mut Ui,
        texts: impl IntoIterator<Item = Text>,
        marks: Marks,
    ) -> Response {
        row(ui, &self.cells(texts), marks)
    }

    /// Shows a row that can be clicked or chosen by keyboard.
    pub fn button(
        &self,
        ui: &mut Ui,
        texts: impl IntoIterator<Item = Text>,
        marks: Marks,
    ) -> Response {
        button(ui, &self.cells(texts), marks)
    }

    fn cells(&self, texts: impl IntoIterator<Item = Text>) -> Vec<Cell> {
        let cell = |(column, text): (&Column<'_>, Text)| {
            let cell = match column.has_numbers {
                true => Cell::number(text.text, column.width),
                false => Cell::word(text.text, column.width),
            };
            match text.color {
                Some(color) => cell.color(color),
                None => cell,
            }
        };
        self.columns.iter().zip(texts).map(cell).collect()
    }
}
