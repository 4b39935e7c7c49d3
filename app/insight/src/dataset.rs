//! Text for the dataset of a run, and access to the catalog of datasets.

use std::fmt;

use loadscope_plan::dataset::{Catalog, DatasetSpec, SyntheticCatalog};
use loadscope_trace::{Origin, RunInfo, count, plural};
use loadscope_words::say;

/// Returns the description of a run's dataset in the language of the program. Recordings contain the English one.
pub fn dataset(info: &RunInfo) -> String {
    let own = match info.origin {
        Origin::Engine | Origin::Simulation => described(info),
        Origin::Pytorch(_) | Origin::Import(_) => None,
    };
    own.unwrap_or_else(|| info.dataset.clone())
}

/// Describes a dataset of the embedded loader. Returns `None` if the recording has another text, or if the text is from a file format.
fn described(info: &RunInfo) -> Option<String> {
    let len = info.dataset_len?;
    info.dataset.strip_prefix(len.to_string().as_str())?;
    let text = match info.options.dataset.parse::<DatasetSpec>().ok()? {
        DatasetSpec::Digits => say!("{} handwritten digits", count(len)),
        DatasetSpec::Folder { path } => {
            let images = plural(len, say!(n: "image"), say!(n: "images"));
            let classes = info.classes.len() as u64;
            let classes = plural(classes, say!(n: "class"), say!(n: "classes"));
            say!("{images} of {classes} in {}", path.display())
        }
        DatasetSpec::Synthetic(_) => say!("{} synthetic samples", count(len)),
        DatasetSpec::Stream(_) => say!("{} synthetic samples, iterable-style", count(len)),
        DatasetSpec::Tokens(_) | DatasetSpec::Data(_) => return None,
    };
    let extra = &info.options.extra_cost;
    Some(match extra.is_empty() {
        true => text,
        false => say!("{text}, slowed down ({extra})"),
    })
}

/// Catalog of datasets. In builds with the embedded engine, it opens them.
#[derive(Clone, Copy)]
pub struct Datasets(pub &'static (dyn Catalog + Sync));

impl Default for Datasets {
    fn default() -> Self {
        Self(&SyntheticCatalog)
    }
}

impl fmt::Debug for Datasets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Datasets")
    }
}

#[cfg(test)]
mod tests {
    use loadscope_plan::Facts;
    use loadscope_plan::dataset::Entry;
    use loadscope_trace::RunOptions;

    use super::*;

    /// Returns the `RunInfo` of a run with `len` samples of this dataset.
    fn info(dataset: &str, extra: &str, len: usize) -> RunInfo {
        let options = RunOptions {
            dataset: dataset.to_owned(),
            extra_cost: extra.to_owned(),
            ..RunOptions::default()
        };
        let entry = Entry {
            len: Some(len),
            classes: vec!["cat".to_owned(), "dog".to_owned()],
            labels: None,
        };
        let spec: DatasetSpec = dataset.parse().expect("a dataset");
        let facts = Facts {
            options: &options,
            spec: &spec,
            dataset: &entry,
            batches: None,
        };
        facts.info(0, None)
    }

    #[test]
    fn the_english_dataset_text_equals_the_recorded_one() {
        for (name, extra) in [
            ("digits", ""),
            ("digits", "cost_ms=20"),
            ("synthetic:len=24", ""),
            ("stream:len=24", ""),
            ("folder:/data/pets", ""),
            ("csv:/data/prices.csv", ""),
            ("tokens:/data/text.bin,block=8", ""),
        ] {
            let mut info = info(name, extra, 240);
            assert_eq!(dataset(&info), info.dataset, "{name}");
            // A recording of another program keeps its own text.
            info.origin = Origin::Import("a trace".to_owned());
            info.dataset = "240 pets".to_owned();
            assert_eq!(dataset(&info), "240 pets");
        }
        let many = info("digits", "cost_ms=20", 1_797);
        assert_eq!(
            dataset(&many),
            "1,797 handwritten digits, slowed down (cost_ms=20)"
        );
    }

    #[test]
    fn an_unknown_dataset_text_is_kept() {
        let mut info = info("digits", "", 1_797);
        info.dataset = "Recordings (320 samples) from late.py".to_owned();
        assert_eq!(dataset(&info), info.dataset);
        info.dataset.clear();
        assert_eq!(dataset(&info), "");
    }
}
