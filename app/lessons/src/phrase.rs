//! Phrases of lesson files, as in `batch 4 enters held`. A pattern has words in capitals in place of values.
//! The same tables parse the files, name the nearest phrase in an error, and are listed in the README.

use std::num::NonZeroUsize;
use std::str::FromStr;

use loadscope_diagnose::FindingId;
use loadscope_trace::{Argument, Stage};

use crate::error::Mistake;

/// Values in place of the words in capitals, from left to right.
pub(crate) struct Captures<'a>(std::vec::IntoIter<&'a str>);

impl<'a> Captures<'a> {
    /// Returns the next value as text.
    pub fn text(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    /// Parses the next value.
    pub fn read<T: Hole>(&mut self) -> Option<T> {
        T::parse(self.text()?)
    }
}

/// Type of a value in place of a word in capitals.
pub(crate) trait Hole: Sized {
    /// Parses the value.
    fn parse(text: &str) -> Option<Self>;
}

macro_rules! parsed {
    ($($hole:ty)*) => {
        $(impl Hole for $hole {
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        })*
    };
}
parsed! { u16 u32 u64 usize i64 NonZeroUsize String FindingId }

impl Hole for Stage {
    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.id() == text)
    }
}

impl Hole for Argument {
    fn parse(text: &str) -> Option<Self> {
        Self::of_option(text)
    }
}

/// Numbers with commas: `1,1,8`.
impl<T: FromStr> Hole for Vec<T> {
    fn parse(text: &str) -> Option<Self> {
        text.split(',').map(|part| part.parse().ok()).collect()
    }
}

/// A phrase: its pattern, its meaning, and the function that creates its value.
pub(crate) struct PhrasePattern<T: 'static> {
    /// `batch N enters STAGE`. `TEXT` matches the rest.
    pub pattern: &'static str,
    /// Meaning, for the list of phrases.
    pub about: &'static str,
    /// Creates the value. `None` if a value cannot be parsed.
    pub make: fn(&mut Captures<'_>) -> Option<T>,
}

/// Defines a table of forms, one per line: `"pattern", "meaning" => |values| value;`
macro_rules! forms {
    ($(#[$doc:meta])* $table:ident: $made:ty; $($pattern:literal, $about:literal => $make:expr;)*) => {
        $(#[$doc])*
        pub(crate) const $table: &[$crate::phrase::PhrasePattern<$made>] = &[
            $($crate::phrase::PhrasePattern { pattern: $pattern, about: $about, make: $make },)*
        ];
    };
}
pub(crate) use forms;

/// Defines an enum and the table of its forms, one variant per line: `"pattern", "meaning" => Variant(types of the values);`
macro_rules! phrases {
    ($(#[$doc:meta])* $name:ident, $table:ident: $(
        $(#[$attribute:meta])* $pattern:literal, $about:literal => $variant:ident $(($($hole:ty),+))?;
    )*) => {
        $(#[$doc])*
        pub enum $name {
            $(#[doc = concat!("`", $pattern, "`: ", $about)] $(#[$attribute])* $variant $(($($hole),+))?,)*
        }

        $crate::phrase::forms! {
            /// All phrases of the enum.
            $table: $name;
            $($pattern, $about => |_values| Some($name::$variant $(($(_values.read::<$hole>()?),+))?);)*
        }
    };
}
pub(crate) use phrases;

/// Parses `phrase` with the first matching form.
pub(crate) fn read<T>(kind: &str, forms: &[PhrasePattern<T>], phrase: &str) -> Result<T, Mistake> {
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let made = |form: &PhrasePattern<T>| {
        let values = holes(form.pattern, phrase, &words)?;
        (form.make)(&mut Captures(values.into_iter()))
    };
    if let Some(made) = forms.iter().find_map(made) {
        return Ok(made);
    }
    Err(unknown(kind, phrase, nearest(forms, phrase)))
}

/// Returns the similarity of the nearest pattern to `phrase`, and that pattern.
pub(crate) fn nearest<T>(forms: &[PhrasePattern<T>], phrase: &str) -> (f64, &'static str) {
    let near = |form: &PhrasePattern<T>| (strsim::jaro_winkler(form.pattern, phrase), form.pattern);
    let all = forms.iter().map(near);
    all.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
}

/// Returns the mistake of a phrase that matches no pattern.
pub(crate) fn unknown(kind: &str, phrase: &str, (_, pattern): (f64, &'static str)) -> Mistake {
    Mistake::new(
        format!("'{phrase}' is no {kind}"),
        format!(
            "The nearest is '{pattern}'; words in capitals stand for values, and app/lessons/README.md lists all."
        ),
    )
}

fn holes<'a>(pattern: &str, phrase: &'a str, words: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut found = Vec::new();
    let mut left = words.iter();
    for expected in pattern.split_whitespace() {
        if expected == "TEXT" {
            let first = left.next()?;
            // The rest of the phrase with its original blanks.
            let start = first.as_ptr().addr() - phrase.as_ptr().addr();
            found.push(phrase.get(start..)?.trim_end());
            return Some(found);
        }
        let word = left.next()?;
        let is_hole = expected.chars().all(|c| c.is_ascii_uppercase());
        match is_hole {
            true => found.push(word),
            false if expected == *word => {}
            false => return None,
        }
    }
    left.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    forms! {
        /// Phrases with a number and a text.
        FORMS: (u32, String);
        "batch N enters STAGE", "" => |h| Some((h.read()?, h.read()?));
        "line N of TEXT", "" => |h| Some((h.read()?, h.read()?));
    }

    #[test]
    fn values_are_read_at_the_capitals_of_a_pattern() {
        let read = |text| read("moment", FORMS, text);
        assert_eq!(read("batch 4 enters held"), Ok((4, "held".to_owned())));
        assert_eq!(read("line 2 of a  b "), Ok((2, "a  b".to_owned())));
        let wrong = read("batch four enters held").unwrap_err();
        assert!(wrong.remedy.contains("batch N enters STAGE"), "{wrong:?}");
        assert!(read("batch 4 enters held now").is_err());
    }
}
