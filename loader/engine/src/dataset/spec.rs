//! The text that names a data set: `digits`, `folder:PATH`, `synthetic:len=24,cost_ms=50`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CostModel, Dataset, Digits, ImageFolder, Synthetic};
use crate::error::EngineError;
use crate::value::Value;

/// Which data set to load from. Written and read as text, also by serde.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum DatasetSpec {
    /// The built-in handwritten digits.
    #[default]
    Digits,
    /// A folder of pictures, one subfolder a class.
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// Made up, with costs and faults as wanted.
    Synthetic(CostModel),
}

impl DatasetSpec {
    /// Opens the data set. `image_size` is the side of the square that pictures of a folder are resized to; the other
    /// data sets have their own sizes.
    ///
    /// # Errors
    /// If the folder is missing, cannot be read or holds no picture.
    pub fn open(&self, image_size: u32) -> Result<Arc<dyn Dataset<Sample = Value>>, EngineError> {
        Ok(match self {
            Self::Digits => Arc::new(Digits::new()?),
            Self::Folder { path } => Arc::new(ImageFolder::open(path, image_size)?),
            Self::Synthetic(model) => Arc::new(Synthetic::new(model.clone())),
        })
    }
}

impl FromStr for DatasetSpec {
    type Err = EngineError;

    fn from_str(text: &str) -> Result<Self, EngineError> {
        // A path may begin or end with blanks; the rest may not.
        if let Some(path) = text.trim_start().strip_prefix("folder:") {
            if path.is_empty() {
                return Err(EngineError::Spec(
                    "folder: needs the path of a folder of pictures, for example folder:/data/flowers."
                        .to_owned(),
                ));
            }
            return Ok(Self::Folder { path: path.into() });
        }
        match text.trim().split_once(':') {
            Some(("synthetic", options)) => Ok(Self::Synthetic(options.parse()?)),
            None if text.trim() == "synthetic" => Ok(Self::Synthetic(CostModel::default())),
            None if text.trim() == "digits" => Ok(Self::Digits),
            _ => {
                let hint = if Path::new(text.trim()).is_dir() {
                    format!(" For this folder, write folder:{}.", text.trim())
                } else {
                    String::new()
                };
                Err(EngineError::Spec(format!(
                    "There is no data set '{text}'. Possible are digits (built in), folder:PATH (pictures, one \
                     subfolder a class) and synthetic:len=24,cost_ms=50 (made up).{hint}"
                )))
            }
        }
    }
}

impl fmt::Display for DatasetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Digits => f.write_str("digits"),
            Self::Folder { path } => write!(f, "folder:{}", path.display()),
            Self::Synthetic(model) => write!(f, "synthetic:{model}"),
        }
    }
}

impl Serialize for DatasetSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DatasetSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Tail;
    use loadscope_trace::Nanos;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn cost() -> impl Strategy<Value = Nanos> {
        (0i64..=86_400_000_000_000).prop_map(Nanos)
    }

    prop_compose! {
        fn model()(
            len in 100usize..5000,
            cost_ in cost(),
            slow in prop::collection::btree_map(0usize..100, cost(), 0..4),
            every in prop::option::of((1usize..50, cost())),
            jitter in prop_oneof![Just(0.0), 0.0..=1.0],
            tail in prop::option::of((0.0..=1.0, 0.0..1e6)),
            fail in prop::collection::btree_set(0usize..100, 0..3),
            panic in prop::collection::btree_set(0usize..100, 0..3),
            flags in any::<(bool, u64)>(),
            shape in prop::collection::vec(1i64..12, 1..5),
        ) -> CostModel {
            let tail = tail.map(|(fraction, factor)| Tail { fraction, factor });
            CostModel {
                len, cost: cost_, slow, every, jitter, tail, fail, panic, cpu: flags.0, seed: flags.1, shape,
            }
        }
    }

    fn spec() -> impl Strategy<Value = DatasetSpec> {
        prop_oneof![
            Just(DatasetSpec::Digits),
            "[^\u{0}]{1,20}".prop_map(|path| DatasetSpec::Folder { path: path.into() }),
            model().prop_map(DatasetSpec::Synthetic),
        ]
    }

    proptest! {
        #[test]
        fn text_and_spec_agree(spec in spec()) {
            let text = spec.to_string();
            prop_assert_eq!(&text.parse::<DatasetSpec>().unwrap(), &spec, "{}", text);
            let json = serde_json::to_string(&spec).unwrap();
            prop_assert_eq!(&serde_json::from_str::<DatasetSpec>(&json).unwrap(), &spec);
        }

        #[test]
        fn no_text_panics(text in ".*", options in "[a-z_]{1,8}=[0-9:;.x-]{0,12}") {
            let _ = text.parse::<DatasetSpec>();
            let _ = format!("synthetic:{options}").parse::<DatasetSpec>();
        }
    }

    #[test]
    fn the_usual_texts() {
        let parse = |text: &str| text.parse::<DatasetSpec>();
        assert_eq!(parse(" digits ").unwrap(), DatasetSpec::Digits);
        let DatasetSpec::Synthetic(model) =
            parse("synthetic:len=24,cost_ms=50,slow=4:1000").unwrap()
        else {
            panic!("not synthetic");
        };
        assert_eq!(model.slow, BTreeMap::from([(4, Nanos::from_millis(1000))]));
        assert_eq!(model.fail, BTreeSet::new());
        assert_eq!(model.to_string(), "len=24,cost_ms=50,slow=4:1000");
        assert_eq!(parse("synthetic").unwrap(), parse("synthetic:").unwrap());
        let error = parse("mnist").unwrap_err().to_string();
        assert!(error.contains("Possible are digits"), "{error}");
        assert!(parse("folder:").is_err());
    }

    #[test]
    fn specs_open() {
        let digits = DatasetSpec::default().open(224).unwrap();
        assert_eq!(digits.len(), 1797);
        let synthetic: DatasetSpec = "synthetic:len=3".parse().unwrap();
        assert_eq!(synthetic.open(224).unwrap().len(), 3);
        let missing = DatasetSpec::Folder {
            path: "/no/such/folder".into(),
        };
        let error = missing.open(224).err().unwrap().to_string();
        assert!(
            error.contains("There is no folder /no/such/folder"),
            "{error}"
        );
    }
}
