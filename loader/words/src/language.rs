//! Language of the program.

use std::sync::atomic::{AtomicU8, Ordering};

use serde::{Deserialize, Serialize};

/// A language of the texts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English, the language of the source code's texts.
    #[default]
    En,
    /// Chinese in simplified characters.
    Zh,
}

/// Index of the program's language in [`Language::ALL`].
static CURRENT: AtomicU8 = AtomicU8::new(0);

/// Returns the language of the program: English before [`set_language`].
#[inline]
pub fn language() -> Language {
    match CURRENT.load(Ordering::Relaxed) {
        1 => Language::Zh,
        _ => Language::En,
    }
}

/// Sets the language of the program, for all texts from now on.
pub fn set_language(language: Language) {
    CURRENT.store(language as u8, Ordering::Relaxed);
}

impl Language {
    /// All languages. A [`Text`](crate::Text) has one translation for each, in this order.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// Returns the code in file names and for `--lang`: `en`, `zh`.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Returns the name of the language in this language.
    pub fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "中文",
        }
    }

    /// Returns the language of a file such as `07.zh.toml`, or English if the name contains no code.
    pub fn of_file(name: &str) -> Self {
        let is = |language: &Self| name.contains(&format!(".{}.", language.code()));
        Self::ALL.into_iter().find(is).unwrap_or_default()
    }

    /// Returns the language of a locale such as `zh_CN.UTF-8` or `zh-Hans`. Returns `None` for other languages.
    pub fn of_locale(locale: &str) -> Option<Self> {
        let code = locale.split(['_', '-', '.', '@']).next()?;
        let is = |language: &Self| code.eq_ignore_ascii_case(language.code());
        Self::ALL.into_iter().find(is)
    }

    /// Returns the language of the first non-empty variable among `LC_ALL`, `LC_MESSAGES` and `LANG`, or English for other languages.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &&str| variable(name).is_some_and(|value| !value.is_empty());
        let name = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find(|name| set(name));
        let locale = name.and_then(variable).unwrap_or_default();
        Self::of_locale(&locale).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locale_names_select_a_language() {
        for locale in ["zh", "zh_CN.UTF-8", "zh-Hans-CN", "ZH_tw", "zh@pinyin"] {
            assert_eq!(Language::of_locale(locale), Some(Language::Zh), "{locale}");
        }
        assert_eq!(Language::of_locale("en_GB"), Some(Language::En));
        for locale in ["", "C", "C.UTF-8", "POSIX", "de_DE", "zhx"] {
            assert_eq!(Language::of_locale(locale), None, "{locale}");
        }
    }

    #[test]
    fn the_first_set_variable_selects_the_language() {
        let of = |set: &[(&str, &str)]| {
            let find = |name: &str| {
                set.iter()
                    .find(|(n, _)| *n == name)
                    .map(|(_, v)| (*v).to_owned())
            };
            Language::of_environment(find)
        };
        assert_eq!(of(&[]), Language::En);
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8")]), Language::Zh);
        assert_eq!(
            of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")]),
            Language::En
        );
        assert_eq!(of(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "")]), Language::Zh);
        assert_eq!(
            of(&[("LANG", "en_US"), ("LC_MESSAGES", "zh_CN")]),
            Language::Zh
        );
    }

    #[test]
    fn file_names_contain_their_language() {
        assert_eq!(Language::of_file("07.zh.toml"), Language::Zh);
        assert_eq!(Language::of_file("07.toml"), Language::En);
    }
}
