//! File names of a recording in parts.
//!
//! `run.jsonl.zst` is a header that names the folder `run.parts` next to it. The folder contains the parts, each a valid recording, and the
//! data kept from dropped parts.

use std::path::{Component, Path, PathBuf};

/// Suffix of the folder.
pub const FOLDER_SUFFIX: &str = ".parts";

/// File with the descriptions of the runs, the kept data and the slowest batches. It is rewritten as a whole.
pub const KEPT_FILE: &str = "kept.jsonl.zst";

const FILE_SUFFIX: &str = ".jsonl.zst";

/// File in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartFile {
    /// Part with all events.
    Part(u32),
    /// Sums per minute, and errors. Only the file with the highest number is valid.
    Course(u32),
    /// Waits of this length class. The lowest class is dropped if space is short.
    Waits(u32),
    /// The file [`KEPT_FILE`].
    Kept,
}

impl PartFile {
    /// Returns the file name.
    pub fn name(self) -> String {
        match self {
            Self::Part(number) => format!("{number:06}{FILE_SUFFIX}"),
            Self::Course(number) => format!("course-{number:04}{FILE_SUFFIX}"),
            Self::Waits(class) => format!("waits-{class:02}{FILE_SUFFIX}"),
            Self::Kept => KEPT_FILE.to_owned(),
        }
    }

    /// Parses a file name.
    pub fn parse(name: &str) -> Option<Self> {
        if name == KEPT_FILE {
            return Some(Self::Kept);
        }
        let stem = name.strip_suffix(FILE_SUFFIX)?;
        let member = match stem.split_once('-') {
            None => Self::Part(stem.parse().ok()?),
            Some(("course", number)) => Self::Course(number.parse().ok()?),
            Some(("waits", class)) => Self::Waits(class.parse().ok()?),
            Some(_) => return None,
        };
        // Other spellings of a number, such as `+5`, are rejected.
        (member.name() == name).then_some(member)
    }
}

/// Returns the folder `name` next to the recording at `path`. Returns `None` unless `name` is a plain name.
pub fn folder(path: &Path, name: &str) -> Option<PathBuf> {
    let mut components = Path::new(name).components();
    let is_plain = matches!(
        (components.next(), components.next()),
        (Some(Component::Normal(only)), None) if only == name
    );
    (is_plain && name.ends_with(FOLDER_SUFFIX)).then(|| path.with_file_name(name))
}

/// Returns the name of a recording without its suffix: `run` for `run.jsonl.zst`.
pub fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(".zst").unwrap_or(&name);
    stem.strip_suffix(".jsonl").unwrap_or(stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_names_round_trip_and_foreign_ones_are_refused() {
        let all = [
            PartFile::Part(0),
            PartFile::Part(12),
            PartFile::Part(4_000_000_000),
            PartFile::Course(3),
            PartFile::Waits(0),
            PartFile::Kept,
        ];
        for member in all {
            assert_eq!(PartFile::parse(&member.name()), Some(member));
        }
        for foreign in [
            "12.jsonl.zst",
            "+00012.jsonl.zst",
            "waits-1.jsonl.zst",
            "000012.jsonl",
            "",
        ] {
            assert_eq!(PartFile::parse(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn the_parts_folder_is_only_next_to_its_recording() {
        let path = Path::new("/data/run.jsonl.zst");
        let beside = folder(path, "run.parts");
        assert_eq!(beside, Some(PathBuf::from("/data/run.parts")));
        for elsewhere in [
            "../x.parts",
            "/x.parts",
            "a/b.parts",
            "..",
            ".",
            "",
            "run",
            "run.parts/",
        ] {
            assert_eq!(folder(path, elsewhere), None, "{elsewhere}");
        }
        assert_eq!(stem(path), "run");
        assert_eq!(stem(Path::new("a.b.jsonl")), "a.b");
    }
}
