//! Files of indices, weights and labels: JSON, or plain text. They are read as they come, up to stated limits.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::str::FromStr;

use loadscope_files::{Input, open_input};
use serde::de::DeserializeOwned;

use crate::error::EngineError;
use crate::limits::{CLASSES, SAMPLER_BYTES, SAMPLER_ENTRIES, grouped};

mod entries;
mod words;

use entries::{Lists, Numbers};
use words::Words;

/// Dataset indices below `len`: a JSON list, or numbers between blanks, commas or line ends.
pub(super) fn indices(path: &str, len: usize) -> Result<Vec<usize>, EngineError> {
    let numbers: Vec<usize> = list(path, "indices")?;
    if let Some(bad) = numbers.iter().find(|&&i| i >= len) {
        return Err(EngineError::Spec(format!(
            "{path} lists index {bad}, but the dataset has {len} samples"
        )));
    }
    Ok(numbers)
}

/// One weight a sample.
pub(super) fn weights(path: &str, len: usize) -> Result<Vec<f64>, EngineError> {
    let numbers: Vec<f64> = list(path, "weights")?;
    if numbers.len() > len {
        return Err(EngineError::Spec(format!(
            "{path} has {} weights, but the dataset has only {len} samples",
            numbers.len()
        )));
    }
    Ok(numbers)
}

/// The samples of each class: a JSON object `{"label": [indices]}`, or one line a sample with its labels between blanks or
/// commas.
pub(super) fn classes(path: &str) -> Result<Vec<Vec<usize>>, EngineError> {
    let file = Text::open(path, "labels")?;
    if file.first == Some(b'{') {
        let lists: Lists = file.json()?;
        return Ok(lists.0);
    }
    let mut classes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let (mut count, mut words) = (0, Words::of(file));
    while let Some((line, word)) = words.next()? {
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

fn list<T: FromStr>(path: &str, what: &'static str) -> Result<Vec<T>, EngineError>
where
    Numbers<T>: DeserializeOwned,
{
    let file = Text::open(path, what)?;
    if file.first == Some(b'[') {
        let numbers: Numbers<T> = file.json()?;
        return Ok(numbers.0);
    }
    let (mut numbers, mut words) = (Vec::new(), Words::of(file));
    while let Some((line, word)) = words.next()? {
        let number = word.parse().map_err(|_| {
            EngineError::Spec(format!(
                "{path}, line {}: {} is not one of the {what} that are expected here: numbers between \
                 blanks, commas or line ends, or a JSON list",
                line + 1,
                quoted(word)
            ))
        })?;
        numbers.push(number);
        check_count(path, what, numbers.len())?;
    }
    Ok(numbers)
}

/// A word, or its beginning if it is long.
fn quoted(word: &str) -> String {
    const SHOWN: usize = 40;
    match word.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &word[..end]),
        None => format!("{word:?}"),
    }
}

fn check_count(path: &str, what: &str, count: usize) -> Result<(), EngineError> {
    match count > SAMPLER_ENTRIES {
        true => Err(EngineError::Spec(format!("{path} {}", too_many(what)))),
        false => Ok(()),
    }
}

fn check_classes(path: &str, count: usize) -> Result<(), EngineError> {
    match count > CLASSES {
        true => Err(EngineError::Spec(format!("{path} {}", too_many_classes()))),
        false => Ok(()),
    }
}

fn too_many(what: &str) -> String {
    format!(
        "has more than {} {what}, the limit for such a file; use a smaller dataset",
        grouped(SAMPLER_ENTRIES as u64)
    )
}

fn too_many_classes() -> String {
    format!(
        "has more than {} different labels, the limit for such a file; use fewer classes",
        grouped(CLASSES as u64)
    )
}

/// A file that is being read.
struct Text<'a> {
    path: &'a str,
    input: BufReader<Input>,
    /// Line ends before the first byte that is no blank, and that byte, which have been taken already.
    skipped: usize,
    first: Option<u8>,
}

impl<'a> Text<'a> {
    fn open(path: &'a str, what: &'static str) -> Result<Self, EngineError> {
        let input = open_input(Path::new(path), what, SAMPLER_BYTES);
        let input = input.map_err(|e| EngineError::Spec(format!("cannot read {e}")))?;
        let mut text = Self {
            path,
            input: BufReader::with_capacity(1 << 16, input),
            skipped: 0,
            first: None,
        };
        text.skip_blanks().map_err(|e| text.failed(e))?;
        Ok(text)
    }

    fn skip_blanks(&mut self) -> io::Result<()> {
        loop {
            let Some(byte) = self.input.fill_buf()?.first().copied() else {
                return Ok(());
            };
            self.input.consume(1);
            if !byte.is_ascii_whitespace() {
                self.first = Some(byte);
                return Ok(());
            }
            self.skipped += usize::from(byte == b'\n');
        }
    }

    fn json<T: DeserializeOwned>(mut self) -> Result<T, EngineError> {
        let text = self.first.as_slice().chain(&mut self.input);
        serde_json::from_reader(text).map_err(|e| match e.is_io() {
            true => self.failed(e.into()),
            false => EngineError::Spec(format!("{} is not understood: {e}", self.path)),
        })
    }

    fn failed(&self, cause: io::Error) -> EngineError {
        EngineError::Spec(format!("cannot read {}", self.input.get_ref().error(cause)))
    }
}

#[cfg(test)]
mod tests;
