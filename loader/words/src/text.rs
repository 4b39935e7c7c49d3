//! Texts in all languages.

use std::fmt::{self, Debug, Display, Formatter};

use crate::{Language, language};

/// A fixed text in all languages, created by [`text!`](crate::text) in constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    texts: [&'static str; Language::ALL.len()],
}

impl Text {
    /// Creates a text from translations in the order of [`Language::ALL`].
    pub const fn new(texts: [&'static str; Language::ALL.len()]) -> Self {
        Self { texts }
    }

    /// Creates a text that is the same in all languages.
    pub const fn same(name: &'static str) -> Self {
        Self::new([name; Language::ALL.len()])
    }

    /// Returns the text in the language of the program.
    pub fn say(self) -> &'static str {
        self.of(language())
    }

    /// Returns the text in `language`.
    pub const fn of(self, language: Language) -> &'static str {
        let [en, zh] = self.texts;
        match language {
            Language::En => en,
            Language::Zh => zh,
        }
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(self.say())
    }
}

impl Debug for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.of(Language::En), f)
    }
}

/// Looks up an English text in a table of [`table!`](crate::table). Returns the text itself in English, or `None` if it is missing.
pub fn look_up(table: &[(&'static str, Text)], english: &str) -> Option<&'static str> {
    let at = table.binary_search_by_key(&english, |(key, _)| key).ok()?;
    Some(table[at].1.say())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_translation_falls_back_to_english() {
        let text = crate::text!("A text that no catalog contains");
        assert_eq!(text.of(Language::Zh), text.of(Language::En));
        assert_eq!(crate::text!("Next wait").of(Language::Zh), "下一次等待");
    }
}
