//! What a finding says of an order.

use loadscope_diagnose::FindingId;
use loadscope_words::say;

/// A sentence with a number, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name for scripts.
    pub id: FindingId,
    /// What was found.
    pub says: String,
    /// What to do about it.
    pub remedy: String,
    /// True if it makes training worse than it should be; false if it is merely worth knowing.
    pub is_problem: bool,
    /// Where to look: a position in the order.
    pub position: Option<usize>,
}

/// A finding that has no name yet.
pub(super) struct Found {
    /// What was found.
    pub says: String,
    /// What to do about it.
    pub remedy: String,
    /// As in [`Finding`].
    pub is_problem: bool,
    /// As in [`Finding`].
    pub position: Option<usize>,
}

impl Found {
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

pub(super) fn problem(says: String, remedy: &str) -> Found {
    Found {
        says,
        remedy: remedy.to_owned(),
        is_problem: true,
        position: None,
    }
}

pub(super) fn note(says: String, remedy: &str) -> Found {
    Found {
        is_problem: false,
        ..problem(says, remedy)
    }
}

pub(super) fn list(numbers: &[u32]) -> String {
    const MOST: usize = 4;
    let words: Vec<String> = numbers.iter().take(MOST).map(u32::to_string).collect();
    match (numbers.len(), words.split_last()) {
        (n, _) if n > MOST => say!("{} and {} more", words.join(say!(", ")), n - MOST),
        (_, Some((last, before))) if !before.is_empty() => {
            say!("{} and {last}", before.join(say!(", ")))
        }
        _ => words.join(""),
    }
}
