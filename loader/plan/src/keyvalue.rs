//! Texts of the form `name=value`: synthetic datasets, the split of streams, changes of a setting. A [`KeySet`] contains the valid
//! names and parses such texts. A [`KeyValueError`] in any of them has the same wording. Rules (`wait>10%`) and ranges (`0..8`) have their
//! own syntax, and use the names, numbers and mistakes of this module.

mod value;

use loadscope_words::{Text, say};

pub use value::{ValueError, flag, numbers, pair, real, whole};

/// Valid name of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name, such as `slow`.
    pub name: &'static str,
    /// Example with its meaning: `slow=4:1000 (sample 4 takes 1000 ms)`.
    pub example: Text,
    /// True if it may occur several times.
    pub repeats: bool,
}

impl Key {
    /// Creates a key that may occur at most once.
    pub const fn once(name: &'static str, example: Text) -> Self {
        Self {
            name,
            example,
            repeats: false,
        }
    }

    /// Creates a key that may occur several times.
    pub const fn repeated(name: &'static str, example: Text) -> Self {
        Self {
            name,
            example,
            repeats: true,
        }
    }
}

/// Name and value of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyValue<'a> {
    /// Name from the key set.
    pub key: &'static str,
    /// Value after the `=`, trimmed. Never empty.
    pub value: &'a str,
}

impl KeyValue<'_> {
    /// Returns the mistake of a wrong value.
    pub fn error(&self, wrong: ValueError) -> KeyValueError {
        KeyValueError::Value {
            key: self.key,
            value: self.value.to_owned(),
            wrong,
        }
    }
}

/// Mistake in a text. [`KeySet::sentence`] adds the remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KeyValueError {
    /// Missing name, `=` or value.
    #[error("{}", say!("'{0}' is not of the form name=value", .0))]
    Syntax(String),
    /// Unknown name.
    #[error("{}", say!("unknown key '{0}'", .0))]
    Unknown(String),
    /// Repeated name that may occur only once.
    #[error("{}", say!("{0} is given twice", .0))]
    Duplicate(&'static str),
    /// Wrong value.
    #[error("{key}={value}: {wrong}")]
    Value {
        /// Name of the value.
        key: &'static str,
        /// Value as given.
        value: String,
        /// Reason why it is wrong.
        wrong: ValueError,
    },
    /// Error message for values that contradict each other.
    #[error("{0}")]
    Conflict(String),
}

/// Set of the keys that a text can contain.
#[derive(Clone, Debug)]
pub struct KeySet {
    keys: Vec<Key>,
}

impl KeySet {
    /// Creates a set of these keys. Errors list them in this order.
    pub fn new(keys: impl IntoIterator<Item = Key>) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }

    /// Parses comma-separated `name=value` pairs. The text may be empty.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read<'a>(&self, text: &'a str) -> Result<Vec<KeyValue<'a>>, KeyValueError> {
        let parts = text.split(',').filter(|part| !part.trim().is_empty());
        self.read_all(parts)
    }

    /// Parses texts of one `name=value` each. Values may contain commas.
    ///
    /// # Errors
    /// The first mistake.
    pub fn read_all<'a>(
        &self,
        parts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<KeyValue<'a>>, KeyValueError> {
        let mut all: Vec<KeyValue<'a>> = Vec::new();
        for part in parts {
            let (name, value) = part
                .split_once('=')
                .map(|(name, value)| (name.trim(), value.trim()))
                .filter(|(name, value)| !name.is_empty() && !value.is_empty())
                .ok_or_else(|| KeyValueError::Syntax(part.trim().to_owned()))?;
            let key = self.key(name)?;
            if !key.repeats && all.iter().any(|given| given.key == key.name) {
                return Err(KeyValueError::Duplicate(key.name));
            }
            all.push(KeyValue {
                key: key.name,
                value,
            });
        }
        Ok(all)
    }

    /// Returns the key with this name.
    ///
    /// # Errors
    /// If no key has this name.
    pub fn key(&self, name: &str) -> Result<Key, KeyValueError> {
        let found = self.keys.iter().find(|key| key.name == name);
        found
            .copied()
            .ok_or_else(|| KeyValueError::Unknown(name.to_owned()))
    }

    /// Returns the mistake with all keys. An unknown key adds the most similar key. A wrong value has only the example of its key.
    pub fn sentence(&self, mistake: &KeyValueError) -> String {
        let examples: Vec<&str> = self.keys.iter().map(|key| key.example.say()).collect();
        let valid = examples.join(", ");
        let like = match mistake {
            KeyValueError::Unknown(name) => nearest(name, self.keys.iter().map(|key| key.name)),
            _ => None,
        };
        let example = match mistake {
            KeyValueError::Value { key, .. } | KeyValueError::Duplicate(key) => {
                let key = self.keys.iter().find(|known| known.name == *key);
                key.map(|key| key.example.say())
            }
            _ => None,
        };
        let mistake = mistake.to_string();
        let mistake = mistake.trim_end_matches(['.', '。']);
        if let Some(example) = example {
            return say!("{mistake}. Example: {example}");
        }
        match like {
            Some(name) => say!("{mistake}. Did you mean {name}? Valid: {valid}"),
            None => say!("{mistake}. Valid: {valid}"),
        }
    }
}

/// Returns the name that is most similar to `typed`, or `None` if none is similar.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Minimum similarity of a typing error, 0 to 1.
    const SIMILAR: f64 = 0.8;
    // A longer name is not a typing error.
    let typed: String = typed.chars().take(64).collect();
    let typed = typed.to_ascii_lowercase();
    let rated = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, name), name))
        .filter(|(similarity, _)| *similarity >= SIMILAR);
    let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_set() -> KeySet {
        KeySet::new([
            Key::once("len", Text::same("len=24")),
            Key::once("cost_ms", Text::same("cost_ms=50")),
            Key::repeated("slow", Text::same("slow=4:1000 (sample 4 takes 1000 ms)")),
        ])
    }

    fn pairs<'a>(all: &[KeyValue<'a>]) -> Vec<(&'static str, &'a str)> {
        all.iter().map(|given| (given.key, given.value)).collect()
    }

    #[test]
    fn names_and_values_are_read_in_order() {
        let read = key_set()
            .read(" slow = 4:1 ,,len=3,slow=a=b,")
            .expect("sound");
        assert_eq!(
            pairs(&read),
            [("slow", "4:1"), ("len", "3"), ("slow", "a=b")]
        );
        assert_eq!(key_set().read(" "), Ok(Vec::new()));
        let read = key_set().read_all(["slow=1,2", "len=3"]).expect("sound");
        assert_eq!(pairs(&read), [("slow", "1,2"), ("len", "3")]);
    }

    #[test]
    fn mistakes_are_reported_with_the_valid_values() {
        let key_set = key_set();
        let says = |text: &str, sentence: &str| {
            let mistake = key_set.read(text).expect_err(text);
            assert_eq!(key_set.sentence(&mistake), sentence);
        };
        let possible = "Valid: len=24, cost_ms=50, slow=4:1000 (sample 4 takes 1000 ms)";
        for text in ["len", "len=", "=3", "len= "] {
            let form = format!("'{}' is not of the form name=value", text.trim());
            says(text, &format!("{form}. {possible}"));
        }
        says("len=3,len=3", "len is given twice. Example: len=24");
        says(
            "Cost=3",
            &format!("unknown key 'Cost'. Did you mean cost_ms? {possible}"),
        );
        let given = key_set.read("len=x").expect("sound")[0];
        let mistake = given.error(whole(given.value, 0..=9u8).expect_err("no number"));
        assert_eq!(
            key_set.sentence(&mistake),
            "len=x: 'x' is not a whole number from 0 to 9. Example: len=24"
        );
        let conflict = KeyValueError::Conflict("both at once".to_owned());
        assert_eq!(
            key_set.sentence(&conflict),
            format!("both at once. {possible}")
        );
    }
}
