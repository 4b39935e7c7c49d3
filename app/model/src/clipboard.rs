//! Text and images that can be copied out of the window: values, indices, variables.

use loadscope_trace::{Field, FieldData, Pictures, Run};

use crate::code;
use crate::command::Action;
use crate::effect::Picture;
use crate::state::State;
use loadscope_insight::variables;

/// Returns the enlarged image.
pub fn picture(state: &State) -> Option<Picture> {
    let row = state.session.selection?.batch()?;
    let (field, k) = state.session.enlarged?;
    Picture::of(&state.session.run, row, field, k)
}

/// Returns true if `action` has text to copy.
pub fn has_text(state: &State, action: Action) -> bool {
    let row = state.session.selection.and_then(|item| item.batch());
    match action {
        Action::CopyVariables => !state.session.run.transitions().is_empty(),
        Action::CopyPlace => code::place(state).is_some(),
        Action::CopyIndices => row.is_some_and(|row| !state.session.run.indices(row).is_empty()),
        _ => row.is_some_and(|row| state.session.run.content(row).is_some()),
    }
}

/// Returns the text that `action` copies. Returns `None` if there is none.
pub fn text(state: &State, action: Action) -> Option<String> {
    if !has_text(state, action) {
        return None;
    }
    let row = || state.session.selection?.batch();
    match action {
        Action::CopyVariables => Some(variables::python(&state.session.run, &state.pipeline())),
        Action::CopyPlace => code::place(state).map(|at| format!("{}:{}", at.file, at.line)),
        Action::CopyIndices => Some(indices(&state.session.run, row()?)),
        Action::CopyValues => Some(values(&state.session.run, row()?)),
        Action::CopyContent => {
            serde_json::to_string_pretty(state.session.run.content(row()?)?).ok()
        }
        _ => None,
    }
}

/// Formats the dataset indices of a batch as a Python list.
pub fn indices(run: &Run, row: usize) -> String {
    let all: Vec<String> = run.indices(row).iter().map(u64::to_string).collect();
    format!("[{}]", all.join(", "))
}

/// Formats all fields with one value per sample as tab-separated text, one row per sample.
/// Spreadsheets accept this text.
pub fn values(run: &Run, row: usize) -> String {
    let Some(content) = run.content(row) else {
        return String::new();
    };
    let indices = run.indices(row);
    let columns: Vec<Column<'_>> = content.fields.iter().filter_map(Column::of).collect();
    let rows = columns.iter().map(Column::rows).max().unwrap_or(0);
    let mut lines = Vec::with_capacity(rows + 1);
    let index = ["index".to_owned()]
        .into_iter()
        .filter(|_| !indices.is_empty());
    let heads: Vec<String> = index
        .chain(columns.iter().flat_map(Column::heads))
        .collect();
    lines.push(heads.join("\t"));
    for k in 0..rows {
        let mut cells = Vec::with_capacity(heads.len());
        if !indices.is_empty() {
            cells.push(indices.get(k).map(u64::to_string).unwrap_or_default());
        }
        columns.iter().for_each(|c| c.cells(k, &mut cells));
        lines.push(cells.join("\t"));
    }
    lines.join("\n") + "\n"
}

/// Formats a field as a table with a header and one row per sample.
pub fn field_values(run: &Run, row: usize, field: usize) -> Option<String> {
    let field = run.content(row)?.fields.get(field)?;
    let column = Column::of(field)?;
    let mut lines = vec![column.heads().join("\t")];
    for k in 0..column.rows() {
        let mut cells = Vec::new();
        column.cells(k, &mut cells);
        lines.push(cells.join("\t"));
    }
    Some(lines.join("\n") + "\n")
}

/// A field with values, as columns of a table.
struct Column<'a> {
    name: &'a str,
    data: Data<'a>,
}

enum Data<'a> {
    /// The values, and the number of values per sample.
    Numbers(&'a [f64], usize),
    Text(&'a [String]),
}

impl<'a> Column<'a> {
    fn of(field: &'a Field) -> Option<Self> {
        let data = match &field.data {
            FieldData::Numbers(values) => Data::Numbers(values, per_sample(field, values.len())),
            FieldData::Text(texts) => Data::Text(texts),
            FieldData::Omitted | FieldData::Pictures(Pictures { .. }) => return None,
        };
        Some(Self {
            name: &field.name,
            data,
        })
    }

    fn rows(&self) -> usize {
        match &self.data {
            Data::Numbers(values, width) => values.len().div_ceil(*width),
            Data::Text(texts) => texts.len(),
        }
    }

    fn heads(&self) -> Vec<String> {
        match &self.data {
            Data::Numbers(_, width) if *width > 1 => {
                (0..*width).map(|k| format!("{}[{k}]", self.name)).collect()
            }
            _ => vec![self.name.to_owned()],
        }
    }

    fn cells(&self, row: usize, cells: &mut Vec<String>) {
        match &self.data {
            Data::Numbers(values, width) => cells.extend((0..*width).map(|k| {
                let value = values.get(row * width + k);
                value.map(f64::to_string).unwrap_or_default()
            })),
            // A tab or newline inside a text would read as a cell border.
            Data::Text(texts) => cells.push(
                texts
                    .get(row)
                    .map_or_else(String::new, |t| t.replace(['\t', '\n', '\r'], " ")),
            ),
        }
    }
}

/// Returns the number of values per sample, at most `kept`.
pub fn per_sample(field: &Field, kept: usize) -> usize {
    let sizes = field.shape.iter().skip(1);
    let all = sizes.fold(1usize, |all, size| {
        all.saturating_mul(usize::try_from(*size).unwrap_or(0))
    });
    all.clamp(1, kept.max(1))
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchContent, BatchId, Event, EventKind, Nanos, RunId};

    use super::*;
    use crate::view::Item;

    fn field(name: &str, shape: &[i64], data: FieldData) -> Field {
        Field::new(name, "torch.float32", shape, data)
    }

    fn state(fields: Vec<Field>) -> State {
        let batch = BatchId { epoch: 0, idx: 0 };
        let mut state = State::default();
        let kinds = [
            EventKind::EpochStarted { epoch: 0 },
            EventKind::dispatched(batch, Some(0), [7, 3]),
            EventKind::Content(BatchContent { batch, fields }.into()),
        ];
        for (at, kind) in kinds.into_iter().enumerate() {
            let (at, run) = (Nanos(at as i64), RunId(0));
            state.session.run.apply(&Event { at, run, kind });
        }
        state.session.selection = Some(Item::Batch(0));
        state
    }

    #[test]
    fn copied_values_are_a_tab_separated_table() {
        let state = state(vec![
            field(
                "[0]",
                &[2, 2],
                FieldData::Numbers(vec![1.0, 2.5, f64::NAN, -4.0]),
            ),
            field(
                "[1]",
                &[2],
                FieldData::Text(vec!["a\tb".to_owned(), "c".to_owned()]),
            ),
            field("[2]", &[2, 9], FieldData::Omitted),
        ]);
        let table = text(&state, Action::CopyValues).expect("a batch is selected");
        assert_eq!(
            table,
            "index\t[0][0]\t[0][1]\t[1]\n7\t1\t2.5\ta b\n3\tNaN\t-4\tc\n"
        );
        assert_eq!(text(&state, Action::CopyIndices).as_deref(), Some("[7, 3]"));
        let json = text(&state, Action::CopyContent).expect("a batch is selected");
        let back: BatchContent = serde_json::from_str(&json).expect("JSON");
        assert_eq!(back.fields.len(), 3);
        assert_eq!(
            field_values(&state.session.run, 0, 1).as_deref(),
            Some("[1]\na b\nc\n")
        );
        assert_eq!(field_values(&state.session.run, 0, 2), None);
    }

    #[test]
    fn the_enlarged_picture_has_the_recorded_pixels() {
        let pictures = Pictures {
            width: 2,
            height: 1,
            channels: 3,
            pixels: (0..12).collect(),
        };
        let mut state = state(vec![field(
            "",
            &[2, 3, 1, 2],
            FieldData::Pictures(pictures),
        )]);
        assert_eq!(picture(&state), None);
        state.session.enlarged = Some((0, 1));
        let picture = picture(&state).expect("it is enlarged");
        assert_eq!(picture.file_name(), "epoch-0-batch-0-sample-3.png");
        assert_eq!((picture.width, picture.height), (2, 1));
        assert_eq!(picture.pixels, (6..12).collect::<Vec<u8>>());
    }

    #[test]
    fn copying_without_a_batch_gives_no_text() {
        let state = State::default();
        for action in [
            Action::CopyValues,
            Action::CopyContent,
            Action::CopyIndices,
            Action::CopyVariables,
        ] {
            assert_eq!(text(&state, action), None);
        }
    }
}
