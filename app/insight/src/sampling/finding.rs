//! Findings about an order.

use loadscope_diagnose::FindingId;
use loadscope_words::say;

/// Finding about an order: a sentence with a number, and a remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Name for scripts.
    pub id: FindingId,
    /// Sentence that describes the finding, with a number.
    pub says: String,
    /// Advice in PyTorch's terms, or the reason why the finding is harmless.
    pub remedy: String,
    /// True if the finding harms training, false if it is only informative.
    pub is_problem: bool,
    /// Position in the order to look at.
    pub position: Option<usize>,
}

/// A finding without id.
pub(super) struct FindingDraft {
    /// Sentence that describes the finding, with a number.
    pub says: String,
    /// Advice in PyTorch's terms, or the reason why the finding is harmless.
    pub remedy: String,
    pub is_problem: bool,
    pub position: Option<usize>,
}

impl FindingDraft {
    pub fn named(self, id: FindingId) -> Finding {
        Finding {
            id,
            says: self.says,
            remedy: self.remedy,
            is_problem: self.is_problem,
            position: self.position,
        }
    }
}

pub(super) fn problem(says: String, remedy: &str) -> FindingDraft {
    FindingDraft {
        says,
        remedy: remedy.to_owned(),
        is_problem: true,
        position: None,
    }
}

pub(super) fn note(says: String, remedy: &str) -> FindingDraft {
    FindingDraft {
        is_problem: false,
        ..problem(says, remedy)
    }
}

pub(super) fn list(numbers: &[u32]) -> String {
    const MAX_LISTED: usize = 4;
    let words: Vec<String> = numbers
        .iter()
        .take(MAX_LISTED)
        .map(u32::to_string)
        .collect();
    match (numbers.len(), words.split_last()) {
        (n, _) if n > MAX_LISTED => say!("{} and {} more", words.join(say!(", ")), n - MAX_LISTED),
        (_, Some((last, before))) if !before.is_empty() => {
            say!("{} and {last}", before.join(say!(", ")))
        }
        _ => words.join(""),
    }
}
