//! All phrases that files may use, for the documentation and for what completes them.

use crate::moment::MOMENTS;
use crate::part::PARTS;
use crate::phrase::Form;
use crate::query::{NOW, ORDERS, WHOLE, WRAPPED};

/// A phrase of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// What it names: a moment, a part, a query.
    pub kind: &'static str,
    /// Words in capitals stand for values.
    pub pattern: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// All phrases that files may use.
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
