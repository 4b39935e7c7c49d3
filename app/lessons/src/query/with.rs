//! The same options with some of them changed: what other settings bring.

use loadscope_trace::RunOptions;
use serde_json::{Map, Value as Json};

use crate::error::Mistake;

/// Options that are changed: `num_workers=4 in_order=false`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Map<String, Json>);

impl Changes {
    /// Reads `num_workers=4 in_order=false`.
    ///
    /// # Errors
    /// If a word has no `=`, or names no option or no value of it.
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

    /// Changes by the names of options.
    ///
    /// # Errors
    /// If there is no such option, or no such value of it.
    pub fn of(all: Map<String, Json>) -> Result<Self, Mistake> {
        let changes = Self(all);
        changes.apply(&RunOptions::default())?;
        Ok(changes)
    }

    /// `options` with these changes.
    ///
    /// # Errors
    /// If there is no such option, or no such value of it.
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

    /// The names of the options that are changed.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Each change as `name=value`.
    pub fn text(&self) -> String {
        let all: Vec<String> = self
            .0
            .iter()
            .map(|(key, value)| format!("{key}={}", plain(value)))
            .collect();
        all.join(" ")
    }
}

/// The options by name.
pub fn json(options: &RunOptions) -> Option<Map<String, Json>> {
    match serde_json::to_value(options) {
        Ok(Json::Object(all)) => Some(all),
        _ => None,
    }
}

/// One option, as text.
pub fn option(options: &RunOptions, name: &str) -> Option<String> {
    json(options)?.get(name).map(plain)
}

fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
