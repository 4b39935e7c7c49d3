//! Files of indices, weights and labels: JSON, or plain text.

use std::collections::BTreeMap;
use std::fs;

use serde::de::DeserializeOwned;

use crate::error::EngineError;
use crate::sampler::DistributedEquiBatchSampler;

/// Dataset indices below `len`: a JSON list, or numbers between blanks, commas or line ends.
pub(super) fn indices(path: &str, len: usize) -> Result<Vec<usize>, EngineError> {
    let numbers: Vec<usize> = list(path, "indices")?;
    if let Some(bad) = numbers.iter().find(|&&i| i >= len) {
        return Err(EngineError::Spec(format!(
            "{path} lists index {bad}, but the data set has {len} samples"
        )));
    }
    Ok(numbers)
}

/// One weight a sample.
pub(super) fn weights(path: &str, len: usize) -> Result<Vec<f64>, EngineError> {
    let numbers: Vec<f64> = list(path, "weights")?;
    if numbers.len() > len {
        return Err(EngineError::Spec(format!(
            "{path} has {} weights, but the data set has only {len} samples",
            numbers.len()
        )));
    }
    Ok(numbers)
}

/// The samples of each class: a JSON object `{"label": [indices]}`, or one line a sample with its labels between blanks or
/// commas.
pub(super) fn classes(path: &str) -> Result<Vec<Vec<usize>>, EngineError> {
    let text = read(path)?;
    if text.trim_start().starts_with('{') {
        let map: BTreeMap<String, Vec<usize>> = json(path, &text)?;
        return Ok(map.into_values().collect());
    }
    let samples = text.lines().map(words);
    Ok(DistributedEquiBatchSampler::classes_of(samples))
}

fn list<T: DeserializeOwned + std::str::FromStr>(
    path: &str,
    what: &str,
) -> Result<Vec<T>, EngineError> {
    let text = read(path)?;
    if text.trim_start().starts_with('[') {
        return json(path, &text);
    }
    let mut numbers = Vec::new();
    for (line, text) in text.lines().enumerate() {
        for word in words(text) {
            let number = word.parse().map_err(|_| {
                EngineError::Spec(format!(
                    "{path}, line {}: {word:?} is not one of the {what} that are expected here: numbers between \
                     blanks, commas or line ends, or a JSON list",
                    line + 1
                ))
            })?;
            numbers.push(number);
        }
    }
    Ok(numbers)
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
        .filter(|word| !word.is_empty())
}

fn json<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, EngineError> {
    serde_json::from_str(text)
        .map_err(|e| EngineError::Spec(format!("{path} is not understood: {e}")))
}

fn read(path: &str) -> Result<String, EngineError> {
    fs::read_to_string(path).map_err(|e| EngineError::Spec(format!("cannot read {path}: {e}")))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    #[test]
    fn lists_are_text_or_json() {
        for text in ["3, 1\n2", "[3,1,2]", "3;1;2\n\n"] {
            let file = file(text);
            assert_eq!(
                indices(file.path().to_str().unwrap(), 4).unwrap(),
                [3, 1, 2]
            );
            assert_eq!(
                weights(file.path().to_str().unwrap(), 4).unwrap(),
                [3.0, 1.0, 2.0]
            );
        }
        let text = file("1\nx 2");
        let path = text.path().to_str().unwrap();
        let error = indices(path, 4).unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("\"x\""),
            "{error}"
        );
        assert!(indices("/nowhere", 4).is_err());
        let file = file("1 7");
        let error = indices(file.path().to_str().unwrap(), 4);
        assert!(error.unwrap_err().to_string().contains("index 7"));
    }

    #[test]
    fn classes_are_lines_or_json() {
        for text in ["a\nb a\nb", r#"{"a": [0, 1], "b": [1, 2]}"#] {
            let file = file(text);
            let classes = classes(file.path().to_str().unwrap()).unwrap();
            assert_eq!(classes, [vec![0, 1], vec![1, 2]]);
        }
    }
}
