//! Recognition of datasets by the names of files and folders.

use std::path::Path;

/// File name endings, with the word of the dataset that reads them.
const ENDINGS: [(&str, &str); 11] = [
    (".csv", "csv"),
    (".tsv", "csv"),
    (".parquet", "parquet"),
    (".jsonl", "jsonl"),
    (".ndjson", "jsonl"),
    (".npy", "npy"),
    (".npz", "npz"),
    (".safetensors", "safetensors"),
    (".tar", "tar"),
    (".tar.gz", "tar"),
    (".tgz", "tar"),
];

/// Entries of a folder, with the word of the dataset that reads it.
const CONTENTS: [(&str, &str); 6] = [
    ("Annotations", "voc"),
    ("VOCdevkit", "voc"),
    ("dataset_info.json", "arrow"),
    ("dataset_dict.json", "arrow"),
    ("data.mdb", "lmdb"),
    ("SegmentationClass", "voc"),
];

/// Returns the word of the dataset that `path` most likely contains. Returns `None` if the kind is unknown.
pub fn dataset_kind_of(path: &Path) -> Option<&'static str> {
    if path.is_dir() {
        let found = CONTENTS.iter().find(|(name, _)| path.join(name).exists());
        return found.map(|(_, word)| *word);
    }
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let found = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, word)| *word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::DataSpec;

    #[test]
    fn dataset_formats_are_recognized_by_name() {
        let word = |name: &str| dataset_kind_of(Path::new(name));
        assert_eq!(word("/a/Train.CSV"), Some("csv"));
        assert_eq!(word("a.tar.gz"), Some("tar"));
        assert_eq!(word("a.txt"), None);
        for (_, word) in ENDINGS.iter().chain(&CONTENTS) {
            assert!(DataSpec::keys(word).is_some(), "{word}");
        }
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(dataset_kind_of(dir.path()), None);
        std::fs::create_dir(dir.path().join("Annotations")).unwrap();
        assert_eq!(dataset_kind_of(dir.path()), Some("voc"));
    }
}
