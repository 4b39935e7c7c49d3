//! Values of options: parsing, and writing if they differ from the default.

use loadscope_words::say;

use crate::keyvalue::{ValueError, flag, whole};

/// Value after `name=`.
pub(super) trait OptionValue: Sized + PartialEq {
    /// Parses the value.
    fn read(text: &str) -> Result<Self, ValueError>;

    /// Writes the value so that it parses to the same value. Returns `None` for the default, which is omitted.
    fn write(&self) -> Option<String>;

    /// Returns the value if it is the size of images.
    fn size(&self) -> Option<PictureSize> {
        None
    }
}

impl OptionValue for bool {
    fn read(text: &str) -> Result<Self, ValueError> {
        flag(text)
    }

    fn write(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl OptionValue for usize {
    fn read(text: &str) -> Result<Self, ValueError> {
        whole(text, 0..=100_000_000)
    }

    fn write(&self) -> Option<String> {
        Some(self.to_string())
    }
}

impl OptionValue for String {
    fn read(text: &str) -> Result<Self, ValueError> {
        Ok(text.to_owned())
    }

    fn write(&self) -> Option<String> {
        Some(self.clone())
    }
}

impl<T: OptionValue> OptionValue for Option<T> {
    fn read(text: &str) -> Result<Self, ValueError> {
        T::read(text).map(Some)
    }

    fn write(&self) -> Option<String> {
        self.as_ref().and_then(T::write)
    }
}

/// Names separated by semicolons: `a;b;c`.
impl OptionValue for Vec<String> {
    fn read(text: &str) -> Result<Self, ValueError> {
        let all: Self = text.split(';').map(|name| name.trim().to_owned()).collect();
        match all.iter().any(String::is_empty) {
            true => Err(ValueError::other(say!(
                "expected names separated by semicolons, as in a;b"
            ))),
            false => Ok(all),
        }
    }

    fn write(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.join(";"))
    }
}

/// Defines an enum whose variants are words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? } $($methods:tt)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name {
            $($(#[$of])* $variant),+
        }

        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word of the variant.
            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl OptionValue for $name {
            fn read(text: &str) -> Result<Self, ValueError> {
                let found = Self::ALL.iter().find(|one| one.word() == text);
                found.copied().ok_or_else(|| {
                    let words: Vec<&str> = Self::ALL.iter().map(|one| one.word()).collect();
                    ValueError::Other(say!("expected one of {}", words.join(say!(", "))))
                })
            }

            fn write(&self) -> Option<String> {
                Some(self.word().to_owned())
            }

            $($methods)*
        }
    };
}

words! {
    /// Resizing of images.
    PictureSize {
        /// No resizing. Images of different sizes cannot be stacked.
        #[default]
        Original = "original",
        /// Resizing to squares of `image_size`, including boxes and masks.
        Square = "square",
    }

    fn size(&self) -> Option<PictureSize> {
        Some(*self)
    }
}

words! {
    /// Annotations that are loaded from PASCAL VOC.
    VocTask {
        /// Boxes: `ImageSets/Main`.
        #[default]
        Detection = "detection",
        /// Boxes and the mask of the classes: `ImageSets/Segmentation`.
        Segmentation = "segmentation",
    }
}

words! {
    /// Annotations that are loaded from COCO.
    CocoTask {
        /// Captions if the file has some, otherwise keypoints if it has some, otherwise instances.
        #[default]
        Auto = "auto",
        /// Boxes, labels and masks.
        Instances = "instances",
        /// Texts of the captions.
        Captions = "captions",
        /// Boxes, labels and keypoints.
        Keypoints = "keypoints",
    }
}

words! {
    /// Content of the values of a database.
    Decode {
        /// Detected from the first bytes: image, NumPy array, text, otherwise bytes.
        #[default]
        Auto = "auto",
        /// Encoded image, such as JPEG or PNG.
        Picture = "picture",
        /// NumPy array.
        Npy = "npy",
        /// UTF-8 text.
        Text = "text",
        /// Raw bytes.
        Bytes = "bytes",
    }
}

/// Field separator of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// Comma, as `sep=comma`.
    #[default]
    Comma,
    /// Tab, as `sep=tab`.
    Tab,
    /// Semicolon, as `sep=semicolon`.
    Semicolon,
    /// Space, as `sep=space`.
    Space,
    /// Any other single-byte character.
    Other(u8),
}

impl Separator {
    /// Returns the separator as a byte.
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
    fn read(text: &str) -> Result<Self, ValueError> {
        match (text, text.as_bytes()) {
            ("comma" | ",", _) => Ok(Self::Comma),
            ("tab" | "\t", _) => Ok(Self::Tab),
            ("semicolon" | ";", _) => Ok(Self::Semicolon),
            ("space", _) => Ok(Self::Space),
            (_, [byte]) if byte.is_ascii_graphic() && *byte != b'"' => Ok(Self::Other(*byte)),
            _ => Err(ValueError::other(say!(
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
