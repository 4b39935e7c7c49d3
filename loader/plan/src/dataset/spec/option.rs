//! The values of options: how each is read, and written where it is not the usual one.

use std::path::PathBuf;

use loadscope_words::say;

use crate::keyvalue::{Wrong, flag, whole};

/// Something that may stand behind `name=`.
pub(super) trait OptionValue: Sized + PartialEq {
    /// Reads it.
    fn read(text: &str) -> Result<Self, Wrong>;

    /// Writes it as it is read; `None`: there is nothing to write.
    fn write(&self) -> Option<String>;
}

impl OptionValue for bool {
    fn read(text: &str) -> Result<Self, Wrong> {
        flag(text)
    }

    fn write(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl OptionValue for usize {
    fn read(text: &str) -> Result<Self, Wrong> {
        whole(text, 0..=100_000_000)
    }

    fn write(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl OptionValue for String {
    fn read(text: &str) -> Result<Self, Wrong> {
        Ok(text.to_owned())
    }

    fn write(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl OptionValue for PathBuf {
    fn read(text: &str) -> Result<Self, Wrong> {
        Ok(text.into())
    }

    fn write(&self) -> Option<String> {
        Some(self.display().to_string())
    }
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn read(text: &str) -> Result<Self, Wrong> {
        T::read(text).map(Some)
    }

    fn write(&self) -> Option<String> {
        self.as_ref().and_then(T::write)
    }
}

/// `a;b;c`
impl OptionValue for Vec<String> {
    fn read(text: &str) -> Result<Self, Wrong> {
        let all: Self = text.split(';').map(|name| name.trim().to_owned()).collect();
        match all.iter().any(String::is_empty) {
            true => Err(Wrong::other(say!(
                "expected names separated by semicolons, as in a;b"
            ))),
            false => Ok(all),
        }
    }

    fn write(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.join(";"))
    }
}

/// An enum of words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant),+
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its word.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl OptionValue for $name {
            fn read(text: &str) -> Result<Self, Wrong> {
                let found = Self::ALL.iter().find(|one| one.word() == text);
                found.copied().ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|one| one.word()).collect();
                    Wrong::Other(say!("expected one of {}", words.join(say!(", "))))
                })
            }

            fn write(&self) -> Option<String> {
                Some(self.word().to_owned())
            }
        }
    };
}

words! {
    /// What is made of the sizes of pictures.
    PictureSize {
        /// They are left as they are, so that pictures of different sizes do not stack.
        #[default]
        Original = "original",
        /// They become squares of `image_size`, and boxes and masks with them.
        Square = "square",
    }
}

words! {
    /// What PASCAL VOC is loaded for.
    VocTask {
        /// Boxes: `ImageSets/Main`.
        #[default]
        Detection = "detection",
        /// Boxes and the mask of the classes: `ImageSets/Segmentation`.
        Segmentation = "segmentation",
    }
}

words! {
    /// What COCO is loaded for.
    CocoTask {
        /// What the annotations are: captions if they have some, keypoints if they have some, else instances.
        #[default]
        Auto = "auto",
        /// Boxes, labels and masks.
        Instances = "instances",
        /// Sentences.
        Captions = "captions",
        /// Boxes, labels and keypoints.
        Keypoints = "keypoints",
    }
}

words! {
    /// What the bytes of a database are.
    Decode {
        /// What their begin says: a picture, an array of NumPy, a text, else bytes.
        #[default]
        Auto = "auto",
        /// A picture.
        Picture = "picture",
        /// An array of NumPy.
        Npy = "npy",
        /// Text in UTF-8.
        Text = "text",
        /// Left as they are.
        Bytes = "bytes",
    }
}

/// What separates the fields of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// A comma.
    #[default]
    Comma,
    /// A tabulator.
    Tab,
    /// A semicolon.
    Semicolon,
    /// A blank.
    Space,
    /// Any other character of one byte.
    Other(u8),
}

impl Separator {
    /// Its byte.
    pub fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Tab => b'\t',
            Self::Semicolon => b';',
            Self::Space => b' ',
            Self::Other(byte) => byte,
        }
    }
}

impl OptionValue for Separator {
    fn read(text: &str) -> Result<Self, Wrong> {
        match (text, text.as_bytes()) {
            ("comma" | ",", _) => Ok(Self::Comma),
            ("tab" | "\t", _) => Ok(Self::Tab),
            ("semicolon" | ";", _) => Ok(Self::Semicolon),
            ("space", _) => Ok(Self::Space),
            (_, [byte]) if byte.is_ascii_graphic() && *byte != b'"' => Ok(Self::Other(*byte)),
            _ => Err(Wrong::other(say!(
                "expected comma, tab, semicolon, space, or another character"
            ))),
        }
    }

    fn write(&self) -> Option<String> {
        Some(match self {
            Self::Comma => "comma".to_owned(),
            Self::Tab => "tab".to_owned(),
            Self::Semicolon => "semicolon".to_owned(),
            Self::Space => "space".to_owned(),
            Self::Other(byte) => char::from(*byte).to_string(),
        })
    }
}
