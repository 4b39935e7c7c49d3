//! Features of `datasets` beyond the type of a column: images, sounds, class names, arrays of several axes.

use serde_json::Value;

/// Meaning of the values of a column.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Feature {
    /// Plain values of the column's type.
    #[default]
    Plain,
    /// Class numbers, with the names of the classes.
    Class(Vec<String>),
    /// Image files: `{bytes, path}`.
    Picture,
    /// Sound files: `{bytes, path}`.
    Sound,
    /// Array of this shape in nested lists. `None` is a variable size.
    Array(Vec<Option<usize>>),
    /// List of values with the same meaning.
    List(Box<Feature>),
    /// Fields with their meanings.
    Struct(Vec<(String, Feature)>),
}

impl Feature {
    /// Reads the meaning from a feature.
    pub(super) fn read(feature: &Value) -> Self {
        let kind = feature.get("_type").and_then(Value::as_str);
        match (kind, feature) {
            (Some("ClassLabel"), _) => {
                let names = feature.get("names").and_then(Value::as_array);
                let names = names.into_iter().flatten().filter_map(Value::as_str);
                Self::Class(names.map(str::to_owned).collect())
            }
            (Some("Image"), _) => Self::Picture,
            (Some("Audio"), _) => Self::Sound,
            (Some("Array2D" | "Array3D" | "Array4D" | "Array5D"), _) => {
                let sizes = feature.get("shape").and_then(Value::as_array);
                let size = |size: &Value| size.as_u64().and_then(|size| usize::try_from(size).ok());
                Self::Array(sizes.into_iter().flatten().map(size).collect())
            }
            (Some("Sequence" | "List" | "LargeList"), _) => match feature.get("feature") {
                // A sequence of a dict is a dict of lists.
                Some(Value::Object(fields)) if !fields.contains_key("_type") => {
                    let each = |(name, feature): (&String, &Value)| {
                        (name.clone(), Self::List(Box::new(Self::read(feature))))
                    };
                    Self::Struct(fields.iter().map(each).collect())
                }
                Some(feature) => Self::List(Box::new(Self::read(feature))),
                None => Self::Plain,
            },
            (Some(_), _) => Self::Plain,
            (None, Value::Array(one)) => match one.first() {
                Some(feature) => Self::List(Box::new(Self::read(feature))),
                None => Self::Plain,
            },
            (None, Value::Object(fields)) => {
                let each = |(name, feature): (&String, &Value)| (name.clone(), Self::read(feature));
                Self::Struct(fields.iter().map(each).collect())
            }
            (None, _) => Self::Plain,
        }
    }

    /// Returns the meaning of the elements of a list.
    pub(super) fn element(&self) -> &Self {
        match self {
            Self::List(of) => of,
            _ => &Self::Plain,
        }
    }

    /// Returns the meaning of a field.
    pub(super) fn field(&self, name: &str) -> &Self {
        let Self::Struct(fields) = self else {
            return &Self::Plain;
        };
        let found = fields.iter().find(|(field, _)| field == name);
        found.map_or(&Self::Plain, |(_, meaning)| meaning)
    }
}

/// Returns the features that `datasets` wrote to a schema.
pub(super) fn features(said: &str) -> Option<Value> {
    let mut said: Value = serde_json::from_str(said).ok()?;
    said.pointer_mut("/info/features").map(Value::take)
}
