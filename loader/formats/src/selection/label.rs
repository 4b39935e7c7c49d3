//! Classes of the rows from the class column.

use std::collections::BTreeSet;

use crate::cell::Cell;

/// Class of each row, and names of the classes unless the column contains numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Labels {
    pub(super) of_rows: Vec<u32>,
    pub(super) names: Vec<String>,
}

/// Converts values to classes. Non-negative integers are the classes themselves. Texts and bools are numbered in sorted order. Returns
/// `None` if a value is missing or of another type, such as a float or a list.
pub(super) fn labels(values: &[Cell]) -> Option<Labels> {
    let number = |value: &Cell| match value {
        Cell::Int(number) => u32::try_from(*number).ok(),
        _ => None,
    };
    if let Some(of_rows) = values.iter().map(number).collect::<Option<Vec<u32>>>() {
        let names = Vec::new();
        return Some(Labels { of_rows, names });
    }
    let texts: Vec<String> = values.iter().map(text).collect::<Option<_>>()?;
    let names: Vec<String> = texts
        .iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .cloned()
        .collect();
    let number = |text: &String| {
        let at = names.binary_search(text).ok()?;
        u32::try_from(at).ok()
    };
    let of_rows = texts.iter().map(number).collect::<Option<_>>()?;
    Some(Labels { of_rows, names })
}

fn text(value: &Cell) -> Option<String> {
    match value {
        Cell::Text(text) => Some((**text).to_owned()),
        Cell::Bool(truth) => Some(if *truth { "True" } else { "False" }.to_owned()),
        Cell::Null
        | Cell::Int(_)
        | Cell::BigInt(_)
        | Cell::Float(_)
        | Cell::Bytes(_)
        | Cell::Picture(_)
        | Cell::Scalar(_)
        | Cell::Array(_)
        | Cell::List(_)
        | Cell::Tuple(_)
        | Cell::Map(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_labels_are_numbered_alphabetically() {
        let read = labels(&["dog".into(), "cat".into(), "dog".into()]).unwrap();
        assert_eq!(
            (read.of_rows, read.names),
            (vec![1, 0, 1], vec!["cat".to_owned(), "dog".to_owned()])
        );
        let numbers = labels(&[Cell::Int(7), Cell::Int(0)]).unwrap();
        assert_eq!((numbers.of_rows, numbers.names), (vec![7, 0], Vec::new()));
        let truths = labels(&[Cell::Bool(true), Cell::Bool(false)]).unwrap();
        assert_eq!(truths.of_rows, [1, 0]);
        for none in [Cell::Null, Cell::Float(1.0), Cell::Int(-1)] {
            assert_eq!(labels(&["a".into(), none.clone()]), None, "{none:?}");
            assert_eq!(labels(&[none]), None);
        }
    }
}
