//! Data formats: their texts, options and parsers.

use loadscope_trace::{parts, quote, without_password};
use loadscope_words::{Text, say, text};

use super::option::PictureSize;
use crate::error::LoaderError;
use crate::keyvalue::{Key, KeySet, KeyValue, KeyValueError};

/// Example of a size that is the image size by default.
pub(super) const SQUARE: Text = text!("size=square (to image_size, or original)");
/// Example of a size that is the size of the file by default.
pub(super) const ORIGINAL: Text = text!("size=original (or square, to image_size)");

/// Properties of a data format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Word before the colon of a dataset.
    pub word: &'static str,
    /// Example of a dataset.
    pub example: &'static str,
    /// Noun of a sample and its plural.
    pub nouns: [&'static str; 2],
    /// Lowercase endings of the names of its files.
    pub endings: &'static [&'static str],
    /// Files and folders, one of which each of its folders contains.
    pub contents: &'static [&'static str],
    /// Options after the places.
    pub keys: &'static [Key],
    /// Number of its places (files, folders, URLs).
    pub places: usize,
    /// True if the samples are images with boxes, masks or keypoints, which are scaled with the image.
    pub is_annotated: bool,
    /// Part of the options form.
    pub form: DatasetForm,
}

/// Part of the options form that edits a dataset.
#[derive(Clone, Copy, Debug)]
pub struct DatasetForm {
    /// Name of the kind of dataset.
    pub name: Text,
    /// Initial dataset.
    pub first: &'static str,
    /// Label of the text after the colon.
    pub label: Text,
    /// Example of that text.
    pub example: &'static str,
    /// Description with the available keys.
    pub hint: Text,
    /// Dialog that chooses the path, if any.
    pub dialog: Option<Dialog>,
}

/// Dialog that chooses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    /// Folder.
    Folder,
    /// File.
    File,
}

impl DatasetForm {
    /// Returns the word before the colon.
    pub fn word(&self) -> &'static str {
        self.first.split(':').next().unwrap_or(self.first)
    }
}

impl Format {
    /// Returns true if the data can contain images, which have a size.
    pub fn has_pictures(&self) -> bool {
        self.keys.iter().any(|key| key.name == "size")
    }

    /// Parses the places and options of a dataset.
    pub(super) fn read<T>(
        &self,
        text: &str,
        make: fn(&[&str], &[KeyValue<'_>]) -> Result<T, KeyValueError>,
    ) -> Result<T, LoaderError> {
        let fail = |what: &str| self.error(text, what);
        let Some(all) = parts(text) else {
            return Err(fail(say!(
                "a quote is not closed. Inside quotes, write two quotes for one."
            )));
        };
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (places, options) = all.split_at(self.places.min(all.len()));
        if places.len() < self.places || places.iter().any(|place| place.is_empty()) {
            let example = self.example;
            return Err(fail(&say!("expected {example}")));
        }
        let key_set = KeySet::new(self.keys.iter().copied());
        let made = key_set
            .read_all(options.iter().copied())
            .and_then(|given| make(places, &given));
        made.map_err(|mistake| {
            let mistake = match mistake {
                KeyValueError::Syntax(part) => KeyValueError::Conflict(say!(
                    "'{}' is not of the form name=value. Put values that contain a comma in double quotes.",
                    without_password(&part)
                )),
                other => other,
            };
            if self.keys.is_empty() {
                let mistake = mistake.to_string();
                let mistake = mistake.trim_end_matches(['.', '。']);
                fail(&say!("{mistake}. It has no options."))
            } else {
                fail(&key_set.sentence(&mistake))
            }
        })
    }

    /// Returns the error for a dataset, without its password.
    pub(super) fn error(&self, text: &str, what: &str) -> LoaderError {
        LoaderError::Spec(format!("{}:{}: {what}", self.word, without_password(text)))
    }
}

/// Dataset of a format: its places and options.
pub(super) trait Spec {
    /// Returns the format of the dataset.
    fn format(&self) -> &'static Format;

    /// Returns the places as written.
    fn places(&self) -> Vec<&str>;

    /// Returns the options that differ from their defaults.
    fn options(&self) -> Vec<(&'static str, String)>;

    /// Returns the resizing of the images. Returns `None` if the data cannot contain images.
    fn size(&self) -> Option<PictureSize>;

    /// Returns true if the dataset is iterable-style.
    fn is_stream(&self) -> bool {
        false
    }

    /// Returns the reason why the options contradict each other, if they do.
    fn conflict(&self) -> Option<&'static str> {
        None
    }
}

/// Quotes a part so that it parses to the same text. Leading white space is quoted, too.
pub(super) fn quote_part(text: &str) -> String {
    if text.starts_with(char::is_whitespace) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        quote(text)
    }
}

/// Defines the dataset of a format: properties, places, options with their defaults, and methods of [`Spec`] without their defaults.
macro_rules! data_format {
    (
        $(#[$doc:meta])*
        $spec:ident {
            word: $word:literal,
            example: $example:literal,
            nouns: $nouns:expr,
            endings: $endings:expr,
            contents: $contents:expr,
            is_annotated: $is_annotated:expr,
            form: $form:expr,
        }
        places { $($(#[$place_doc:meta])* $place:ident,)+ }
        options { $($(#[$of:meta])* $field:ident: $type:ty = $usual:expr, $key_example:expr;)* }
        $($methods:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $spec {
            $($(#[$place_doc])* pub $place: String,)+
            $($(#[$of])* pub $field: $type,)*
        }

        impl $spec {
            /// Format of the dataset.
            pub const FORMAT: Format = Format {
                word: $word,
                example: $example,
                nouns: $nouns,
                endings: $endings,
                contents: $contents,
                keys: &[$(Key::once(stringify!($field), $key_example)),*],
                places: [$(stringify!($place)),+].len(),
                is_annotated: $is_annotated,
                form: $form,
            };

            /// Returns the dataset at these places, with the default options.
            pub fn new($($place: impl Into<String>),+) -> Self {
                Self {
                    $($place: $place.into(),)+
                    $($field: $usual,)*
                }
            }

            /// Returns the dataset at these places, with the given options.
            pub(super) fn read(places: &[&str], given: &[KeyValue<'_>]) -> Result<Self, KeyValueError> {
                let mut places = places.iter().copied();
                #[allow(unused_mut, reason = "a dataset may have no options")]
                let mut spec = Self::new($({
                    let _ = stringify!($place);
                    places.next().unwrap_or_default()
                }),+);
                for option in given {
                    let set: Result<(), ValueError> = match option.key {
                        $(stringify!($field) => OptionValue::read(option.value).map(|value| spec.$field = value),)*
                        _ => Ok(()),
                    };
                    set.map_err(|wrong| option.error(wrong))?;
                }
                Ok(spec)
            }
        }

        impl Spec for $spec {
            fn format(&self) -> &'static Format {
                &Self::FORMAT
            }

            fn places(&self) -> Vec<&str> {
                vec![$(self.$place.as_str()),+]
            }

            fn options(&self) -> Vec<(&'static str, String)> {
                #[allow(unused, reason = "a dataset may have no options")]
                let usual = Self::new($({ let _ = stringify!($place); String::new() }),+);
                let options: [Option<(&'static str, String)>; Self::FORMAT.keys.len()] = [$(
                    self.$field.write().filter(|_| self.$field != usual.$field).map(|text| (stringify!($field), text)),
                )*];
                options.into_iter().flatten().collect()
            }

            fn size(&self) -> Option<PictureSize> {
                let sizes: [Option<PictureSize>; Self::FORMAT.keys.len()] = [$(self.$field.size(),)*];
                sizes.into_iter().flatten().next()
            }

            $($methods)*
        }
    };
}

pub(super) use data_format;
