//! Values of queries.

use loadscope_trace::{BatchId, WorkerId};

use crate::part::Part;
use loadscope_words::Language;

/// Value of a query.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number in the unit of the query.
    Number(f64),
    /// A word: `yes`, `less`, `fetching`, the id of a finding, a line of output.
    Word(String),
    /// Batch of an epoch.
    Batch(BatchId),
    /// Worker with this number.
    Worker(WorkerId),
    /// A sample, by its index in the dataset.
    Sample(u64),
    /// A part of the window.
    Part(Part),
    /// Several values in order.
    List(Vec<Value>),
}

impl Value {
    /// Creates a number from a count.
    pub fn count(count: usize) -> Self {
        Self::Number(count as f64)
    }

    /// Returns `yes` or `no`.
    pub fn yes(is: bool) -> Self {
        Self::Word(if is { "yes" } else { "no" }.to_owned())
    }

    /// Returns the text of lesson files: `4`, `worker 1`, `batch 5`, `0 2 4`.
    pub fn key(&self) -> String {
        match self {
            Self::Number(number) => number_text(*number),
            Self::Word(word) => word.clone(),
            Self::Batch(id) => format!("batch {}", id.idx),
            Self::Worker(worker) => format!("worker {worker}"),
            Self::Sample(index) => format!("sample {index}"),
            Self::Part(part) => part.phrase(),
            Self::List(all) => {
                let all: Vec<String> = all.iter().map(Self::key).collect();
                all.join(" ")
            }
        }
    }

    /// Returns the translated text.
    pub fn label(&self, language: Language) -> String {
        let named = |en: &str, zh: &str, what: &dyn std::fmt::Display| match language {
            Language::En => format!("{en} {what}"),
            Language::Zh => format!("{zh} {what}"),
        };
        match self {
            Self::Batch(id) => named("batch", "批次", &id.idx),
            Self::Worker(worker) => named("worker", "工作进程", worker),
            Self::Sample(index) => named("sample", "样本", index),
            Self::Part(part) => part.label(language),
            Self::Word(word) => match (word.as_str(), language) {
                ("yes", Language::Zh) => "是".to_owned(),
                ("no", Language::Zh) => "否".to_owned(),
                _ => word.clone(),
            },
            Self::Number(_) => self.key(),
            Self::List(all) => {
                let all: Vec<String> = all.iter().map(|value| value.label(language)).collect();
                all.join(if language == Language::Zh {
                    "、"
                } else {
                    ", "
                })
            }
        }
    }

    /// Returns the number of the value, if it has one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Batch(id) => Some(f64::from(id.idx)),
            Self::Worker(worker) => Some(f64::from(*worker)),
            Self::Sample(index) => Some(*index as f64),
            Self::Word(word) => word.parse().ok(),
            Self::Part(_) | Self::List(_) => None,
        }
    }

    /// Returns true if `text` of a lesson file has this value.
    pub fn is(&self, text: &str) -> bool {
        let same_number = || match (self, text.parse::<f64>()) {
            (Self::Number(number), Ok(other)) => (number - other).abs() < 1e-6,
            _ => false,
        };
        self.key() == text.trim() || same_number()
    }
}

/// Formats with at most two decimals, without trailing zeros.
fn number_text(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_keys_are_written_as_in_files() {
        assert_eq!(Value::Number(4.0).key(), "4");
        assert_eq!(Value::Number(0.256).key(), "0.26");
        assert_eq!(Value::Number(100.0).key(), "100");
        assert!(Value::Number(4.0).is("4.0") && !Value::Number(4.0).is("5"));
        let list = Value::List(vec![Value::Number(0.0), Value::Number(2.0)]);
        assert!(list.is("0 2"));
        assert_eq!(Value::Worker(1).label(Language::Zh), "工作进程 1");
    }
}
