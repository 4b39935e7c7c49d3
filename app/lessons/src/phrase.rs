//! Phrases of lesson files, as in `batch 4 enters held`. A pattern has words in capitals in place of values.
//! The same tables parse the files, name the nearest phrase in an error, and are listed in the README.

use std::str::FromStr;

use crate::error::Mistake;

/// Values in place of the words in capitals.
pub(crate) struct Captures<'a>(Vec<&'a str>);

impl<'a> Captures<'a> {
    /// Returns the value at a position as text.
    pub fn text(&self, at: usize) -> Option<&'a str> {
        self.0.get(at).copied()
    }

    /// Parses the value at a position.
    pub fn read<T: FromStr>(&self, at: usize) -> Option<T> {
        self.text(at)?.parse().ok()
    }
}

/// A phrase: its pattern, its meaning, and the function that creates its value.
pub(crate) struct PhrasePattern<T: 'static> {
    /// `batch N enters STAGE`. `TEXT` matches the rest.
    pub pattern: &'static str,
    /// Meaning, for the list of phrases.
    pub about: &'static str,
    /// Creates the value. `None` if a value cannot be parsed.
    pub make: fn(&Captures<'_>) -> Option<T>,
}

/// Defines a table of forms, one per line: `"pattern", "meaning" => |holes| value;`
macro_rules! forms {
    ($(#[$doc:meta])* $name:ident: $made:ty; $($pattern:literal, $about:literal => $make:expr;)*) => {
        $(#[$doc])*
        pub(crate) const $name: &[$crate::phrase::PhrasePattern<$made>] = &[
            $($crate::phrase::PhrasePattern { pattern: $pattern, about: $about, make: $make },)*
        ];
    };
}
pub(crate) use forms;

/// Parses `phrase` with the first matching form.
pub(crate) fn read<T>(kind: &str, forms: &[PhrasePattern<T>], phrase: &str) -> Result<T, Mistake> {
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let made =
        |form: &PhrasePattern<T>| (form.make)(&Captures(holes(form.pattern, phrase, &words)?));
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

    const FORMS: [PhrasePattern<(u32, String)>; 2] = [
        PhrasePattern {
            pattern: "batch N enters STAGE",
            about: "",
            make: |h| Some((h.read(0)?, h.text(1)?.to_owned())),
        },
        PhrasePattern {
            pattern: "line N of TEXT",
            about: "",
            make: |h| Some((h.read(0)?, h.text(1)?.to_owned())),
        },
    ];

    #[test]
    fn values_are_read_at_the_capitals_of_a_pattern() {
        let read = |text| read("moment", &FORMS, text);
        assert_eq!(read("batch 4 enters held"), Ok((4, "held".to_owned())));
        assert_eq!(read("line 2 of a  b "), Ok((2, "a  b".to_owned())));
        let wrong = read("batch four enters held").unwrap_err();
        assert!(wrong.remedy.contains("batch N enters STAGE"), "{wrong:?}");
        assert!(read("batch 4 enters held now").is_err());
    }
}
