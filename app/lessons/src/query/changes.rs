//! Changes of options, for queries about other settings.

use loadscope_trace::RunOptions;
use serde_json::{Map, Value as Json};

use crate::error::Mistake;

/// Changed options: `num_workers=4 in_order=false`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Map<String, Json>);

impl Changes {
    /// Parses `num_workers=4 in_order=false`.
    ///
    /// # Errors
    /// If a word has no `=`, an unknown option or an invalid value.
    pub fn read(text: &str) -> Result<Self, Mistake> {
        let mut all = Map::new();
        for word in text.split_whitespace() {
            let Some((key, value)) = word.split_once('=') else {
                return Err(Mistake::new(
                    format!("'{word}' changes no option"),
                    "Write name=value, for example num_workers=4.",
                ));
            };
            let value = match value {
                "True" => Json::Bool(true),
                "False" => Json::Bool(false),
                other => serde_json::from_str(other).unwrap_or_else(|_| other.into()),
            };
            all.insert(key.to_owned(), value);
        }
        Self::of(all)
    }

    /// Creates changes from names and values.
    ///
    /// # Errors
    /// If an option or a value is invalid.
    pub fn of(all: Map<String, Json>) -> Result<Self, Mistake> {
        let changes = Self(all);
        changes.apply(&RunOptions::default())?;
        Ok(changes)
    }

    /// Returns `options` with these changes.
    ///
    /// # Errors
    /// If an option or a value is invalid.
    pub fn apply(&self, options: &RunOptions) -> Result<RunOptions, Mistake> {
        let made = json(options).map(|mut all| {
            all.extend(self.0.clone());
            serde_json::from_value(Json::Object(all))
        });
        match made {
            Some(Ok(made)) => Ok(made),
            Some(Err(error)) => Err(Mistake::new(
                error.to_string(),
                "The names are those of a file for `loadscope run --config`.",
            )),
            None => Ok(options.clone()),
        }
    }

    /// Returns the names of the changed options.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns each change as `name=value`.
    pub fn text(&self) -> String {
        let all: Vec<String> = self
            .0
            .iter()
            .map(|(key, value)| format!("{key}={}", plain(value)))
            .collect();
        all.join(" ")
    }
}

/// Returns the options by name.
pub fn json(options: &RunOptions) -> Option<Map<String, Json>> {
    match serde_json::to_value(options) {
        Ok(Json::Object(all)) => Some(all),
        _ => None,
    }
}

/// Returns one option as text.
pub fn option(options: &RunOptions, name: &str) -> Option<String> {
    json(options)?.get(name).map(plain)
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
