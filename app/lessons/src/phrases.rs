//! All phrases of lesson files, for the documentation and for completion.

use crate::moment::MOMENTS;
use crate::part::PARTS;
use crate::phrase::Form;
use crate::query::{NOW, ORDERS, WHOLE, WRAPPED};

/// A phrase of lesson files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Kind: a moment, a part, or a query.
    pub kind: &'static str,
    /// Pattern. Words in capitals stand for values.
    pub pattern: &'static str,
    /// Meaning.
    pub about: &'static str,
}

/// Returns all phrases of lesson files.
pub fn phrases() -> Vec<Phrase> {
    let mut all = of("moment", MOMENTS);
    all.extend(of("part", PARTS));
    all.extend(of("query about the moment", NOW));
    all.extend(of("query about the run", WHOLE));
    all.extend(of("query to the samplers", ORDERS));
    all.extend(of("query about other things", WRAPPED));
    all
}

fn of<T>(kind: &'static str, forms: &[Form<T>]) -> Vec<Phrase> {
    let phrase = |form: &Form<T>| Phrase {
        kind,
        pattern: form.pattern,
        about: form.about,
    };
    forms.iter().map(phrase).collect()
}
