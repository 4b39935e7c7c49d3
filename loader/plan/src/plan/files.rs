//! Files of indices, weights and labels: JSON or plain text. They are read in a stream, up to fixed limits.

use std::collections::BTreeMap;
use std::str::FromStr;

use loadscope_words::say;
use serde::de::DeserializeOwned;

use crate::error::LoaderError;

mod entries;
mod limits;
mod text;
mod tokens;

use entries::{Lists, Numbers};
use limits::{check_classes, check_count};
use text::Text;
use tokens::Tokens;

/// Reads dataset indices below `len`: a JSON list, or numbers separated by blanks, commas or newlines.
pub(super) fn indices(path: &str, len: usize) -> Result<Vec<usize>, LoaderError> {
    let numbers: Vec<usize> = list(path, ("indices", say!("an index")))?;
    if let Some(bad) = numbers.iter().find(|&&i| i >= len) {
        return Err(LoaderError::Spec(say!(
            "{path} lists index {bad}, but the dataset has only {len} samples"
        )));
    }
    Ok(numbers)
}

/// Reads one weight per sample.
pub(super) fn weights(path: &str, len: usize) -> Result<Vec<f64>, LoaderError> {
    let numbers: Vec<f64> = list(path, ("weights", say!("a weight")))?;
    if numbers.len() > len {
        return Err(LoaderError::Spec(say!(
            "{path} has {} weights, but the dataset has only {len} samples",
            numbers.len()
        )));
    }
    Ok(numbers)
}

/// Reads the samples of each class: a JSON object `{"label": [indices]}`, or one line per sample with its labels, separated by blanks
/// or commas.
pub(super) fn classes(path: &str) -> Result<Vec<Vec<usize>>, LoaderError> {
    let file = Text::open(path, "labels")?;
    if file.first == Some(b'{') {
        let lists: Lists = file.json()?;
        return Ok(lists.0);
    }
    let mut classes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut count, mut tokens) = (0, Tokens::of(file));
    while let Some((line, word)) = tokens.next()? {
        count += 1;
        check_count(path, "labels", count)?;
        match classes.get_mut(word) {
            Some(samples) => samples.push(line),
            None => {
                let label = word.to_owned();
                classes.insert(label, vec![line]);
                check_classes(path, classes.len())?;
            }
        }
    }
    Ok(classes.into_values().collect())
}

/// Reads the numbers of a file. `what` and `one` are their name in the plural and the singular.
fn list<T: FromStr>(path: &str, (what, one): (&'static str, &str)) -> Result<Vec<T>, LoaderError>
where
    Numbers<T>: DeserializeOwned,
{
    let file = Text::open(path, what)?;
    if file.first == Some(b'[') {
        let numbers: Numbers<T> = file.json()?;
        return Ok(numbers.0);
    }
    let (mut numbers, mut tokens) = (Vec::new(), Tokens::of(file));
    while let Some((line, word)) = tokens.next()? {
        let number = word.parse().map_err(|_| {
            LoaderError::Spec(say!(
                "{path}, line {}: {} is not {one}. Write numbers separated by spaces, commas or newlines, or a JSON list.",
                line + 1,
                quoted(word)
            ))
        })?;
        numbers.push(number);
        check_count(path, what, numbers.len())?;
    }
    Ok(numbers)
}

/// Quotes a word, shortened if it is long.
fn quoted(word: &str) -> String {
    const SHOWN: usize = 40;
    match word.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &word[..end]),
        None => format!("{word:?}"),
    }
}

#[cfg(test)]
mod tests;
