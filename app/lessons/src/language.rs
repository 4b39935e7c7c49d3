//! The languages of the lessons.

use serde::{Deserialize, Serialize};

/// A language in which all lessons are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese, in simplified characters.
    Zh,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::En, Self::Zh];

    /// As it stands in the names of files: `en`, `zh`.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Its own name.
    pub fn name(self) -> &'static str {
        match self {
            Self::En => "English",
            Self::Zh => "中文",
        }
    }

    /// The language of a file called `07.zh.toml`; English if the name tells none.
    pub fn of_file(name: &str) -> Self {
        let is = |language: &Self| name.contains(&format!(".{}.", language.code()));
        Self::ALL.into_iter().find(is).unwrap_or_default()
    }
}
