//! What `datasets` says of a column beyond its type: pictures, sounds, names of classes, arrays of several axes.

use serde_json::Value;

/// How the values of a column are meant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Meaning {
    /// As their type says.
    #[default]
    Plain,
    /// Numbers of classes, by name.
    Class(Vec<String>),
    /// Files of pictures: `{bytes, path}`.
    Picture,
    /// Files of sounds: `{bytes, path}`.
    Sound,
    /// An array of these sizes, written as lists in lists; the first size may be open.
    Array(Vec<Option<usize>>),
    /// A list of such values.
    List(Box<Meaning>),
    /// Fields of such values.
    Struct(Vec<(String, Meaning)>),
}

impl Meaning {
    /// What a feature says.
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

    /// How the elements of a list are meant.
    pub(super) fn element(&self) -> &Self {
        match self {
            Self::List(of) => of,
            _ => &Self::Plain,
        }
    }

    /// How a field is meant.
    pub(super) fn field(&self, name: &str) -> &Self {
        let Self::Struct(fields) = self else {
            return &Self::Plain;
        };
        let found = fields.iter().find(|(field, _)| field == name);
        found.map_or(&Self::Plain, |(_, meaning)| meaning)
    }
}

/// The features that `datasets` writes into a schema.
pub(super) fn features(said: &str) -> Option<Value> {
    let mut said: Value = serde_json::from_str(said).ok()?;
    said.pointer_mut("/info/features").map(Value::take)
}
