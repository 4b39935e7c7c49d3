//! Collate functions.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Collate function. As text: empty, `default`, `list`, `pad`, `pad:-1`, `concat`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Collate {
    /// Default for the dataset: lists for annotated images, padding for lines of text and audio, otherwise PyTorch's `default_collate`.
    #[default]
    Fitting,
    /// PyTorch's `default_collate` for any dataset.
    Stack,
    /// Lists of the fields of the samples: `tuple(zip(*batch))`.
    List,
    /// `default_collate` after padding tensors with this value to the largest size.
    Pad(f64),
    /// `default_collate`, but tensors are concatenated and accompanied by their offsets: `(values, offsets)`.
    Concat,
}

impl Collate {
    /// Valid texts, for error messages.
    pub const SYNTAX: &str = "default, list, pad, pad:VALUE or concat";

    /// Returns the effective function for a dataset, given by its option text.
    #[must_use]
    pub fn resolve(self, dataset: &str) -> Self {
        let word = dataset.trim_start().split(':').next().unwrap_or_default();
        match (self, word) {
            (Self::Fitting, "voc" | "coco") => Self::List,
            (Self::Fitting, "text" | "audio") => Self::Pad(0.0),
            (Self::Fitting, _) => Self::Stack,
            (given, _) => given,
        }
    }

    /// Returns true if no function was chosen.
    pub fn is_fitting(&self) -> bool {
        *self == Self::Fitting
    }

    /// Returns Python code with an equivalent function and its name. Returns `None` if PyTorch needs no function.
    pub(super) fn python(self) -> Option<(String, &'static str)> {
        const MODULE: &str = "torch.utils.data._utils.collate";
        let by = |name: &str, function: &str| {
            let map = format!("{{**{MODULE}.default_collate_fn_map, torch.Tensor: {name}}}");
            format!(
                "{function}\ndef collate(batch): return {MODULE}.collate(batch, collate_fn_map={map})\n"
            )
        };
        let functions = match self {
            Self::Fitting | Self::Stack => return None,
            Self::List => "def collate(batch): return {k: [s[k] for s in batch] for k in batch[0]} \
                           if isinstance(batch[0], dict) else tuple(zip(*batch)) if isinstance(batch[0], (tuple, list)) else batch\n"
                .to_owned(),
            Self::Pad(value) => by(
                "pad",
                &format!(
                    "def pad(batch, *, collate_fn_map=None): return torch.nested.nested_tensor(list(batch))\
                     .to_padded_tensor({value}) if batch[0].dim() else torch.stack(batch)"
                ),
            ),
            Self::Concat => by(
                "concat",
                "def concat(batch, *, collate_fn_map=None): return (torch.cat(batch), \
                 torch.tensor([0, *map(len, batch)][:-1]).cumsum(0)) if batch[0].dim() else torch.stack(batch)",
            ),
        };
        Some((functions, "collate"))
    }
}

impl fmt::Display for Collate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fitting => Ok(()),
            Self::Stack => f.write_str("default"),
            Self::List => f.write_str("list"),
            Self::Pad(0.0) => f.write_str("pad"),
            Self::Pad(value) => write!(f, "pad:{value}"),
            Self::Concat => f.write_str("concat"),
        }
    }
}

/// Error for an unknown collate function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown collate function '{0}'. Valid: {possible}", possible = Collate::SYNTAX)]
pub struct ParseCollateError(String);

impl FromStr for Collate {
    type Err = ParseCollateError;

    fn from_str(text: &str) -> Result<Self, ParseCollateError> {
        Ok(match text.trim() {
            "" => Self::Fitting,
            "default" => Self::Stack,
            "list" => Self::List,
            "pad" => Self::Pad(0.0),
            "concat" => Self::Concat,
            other => {
                let value = other
                    .strip_prefix("pad:")
                    .and_then(|value| value.trim().parse::<f64>().ok());
                match value.filter(|value| value.is_finite()) {
                    // Adding zero converts −0 to 0.
                    Some(value) => Self::Pad(value + 0.0),
                    None => return Err(ParseCollateError(other.to_owned())),
                }
            }
        })
    }
}

impl Serialize for Collate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Collate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collate_functions_round_trip_through_text() {
        for (text, collate) in [
            ("", Collate::Fitting),
            ("default", Collate::Stack),
            ("list", Collate::List),
            ("pad", Collate::Pad(0.0)),
            ("pad:-1.5", Collate::Pad(-1.5)),
            ("concat", Collate::Concat),
        ] {
            assert_eq!(text.parse(), Ok(collate));
            assert_eq!(collate.to_string(), text);
        }
        assert_eq!("pad:-0".parse(), Ok(Collate::Pad(0.0)));
        for text in ["lists", "pad:", "pad:x", "pad:inf"] {
            let error = text.parse::<Collate>().unwrap_err().to_string();
            assert!(error.contains("Valid: default, list"), "{error}");
        }
    }

    #[test]
    fn an_unset_collate_function_fits_the_dataset() {
        let of = |dataset| Collate::Fitting.resolve(dataset);
        assert_eq!(of("voc:a"), Collate::List);
        assert_eq!(of("text:a,vocab=b"), Collate::Pad(0.0));
        assert_eq!(of("digits"), Collate::Stack);
        assert_eq!(Collate::Concat.resolve("voc:a"), Collate::Concat);
    }
}
