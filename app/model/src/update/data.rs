//! Text of a dataset at a chosen path.

use std::path::Path;

use loadscope_trace::{parts, quote};

/// Returns the dataset `word` at `path`, with the options of `old` if that has the same kind.
pub(super) fn dataset(old: &str, word: &str, path: &Path) -> String {
    let of_same = old
        .strip_prefix(word)
        .and_then(|rest| rest.strip_prefix(':'));
    let options = of_same.and_then(parts).unwrap_or_default();
    let options = options
        .iter()
        .skip(1)
        .map(|part| match part.split_once('=') {
            Some((name, value)) => format!(",{name}={}", quote(value)),
            None => format!(",{}", quote(part)),
        });
    format!(
        "{word}:{}{}",
        quote(&path.display().to_string()),
        options.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_path_keeps_the_dataset_options() {
        let of = |old, path: &str| dataset(old, "csv", Path::new(path));
        assert_eq!(of("digits", "/a.csv"), "csv:/a.csv");
        assert_eq!(
            of("csv:/b.csv,sep=tab,columns=\"a,b\"", "/a,1.csv"),
            "csv:\"/a,1.csv\",sep=tab,columns=\"a,b\""
        );
        assert_eq!(of("csv:", "/a.csv"), "csv:/a.csv");
    }
}
