//! All phrases of lesson files, for the documentation and for completion.

use crate::moment::MOMENTS;
use crate::part::PARTS;
use crate::phrase::PhrasePattern;
use crate::query::{MOMENT_QUERIES, ORDER_QUERIES, RUN_QUERIES, WRAPPED};

/// A phrase of lesson files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Kind: a moment, a part, or a query.
    pub kind: &'static str,
    /// Pattern. Words in capitals stand for values.
    pub pattern: &'static str,
    /// Meaning of the phrase, for the list in the README.
    pub about: &'static str,
}

/// Returns all phrases of lesson files.
pub fn phrases() -> Vec<Phrase> {
    let mut all = of("moment", MOMENTS);
    all.extend(of("part", PARTS));
    all.extend(of("query about the moment", MOMENT_QUERIES));
    all.extend(of("query about the run", RUN_QUERIES));
    all.extend(of("query to the samplers", ORDER_QUERIES));
    all.extend(of("query about other things", WRAPPED));
    all
}

fn of<T>(kind: &'static str, forms: &[PhrasePattern<T>]) -> Vec<Phrase> {
    let phrase = |form: &PhrasePattern<T>| Phrase {
        kind,
        pattern: form.pattern,
        about: form.about,
    };
    forms.iter().map(phrase).collect()
}
