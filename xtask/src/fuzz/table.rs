//! The page `FUZZ.md`, to which each run adds its executions.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::Result;

use super::fuzz_paths::{FuzzPaths, files};

/// Executions of a target, and their CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FuzzStats {
    pub executions: u64,
    pub seconds: f64,
}

/// Reads the executions so far, by target.
pub(super) fn read_table(fuzz_paths: &FuzzPaths) -> Result<BTreeMap<String, FuzzStats>> {
    let path = fuzz_paths.table();
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    Ok(rows(&fs::read_to_string(path)?))
}

/// Parses the rows of the table: `| name | executions | seconds | …`.
fn rows(page: &str) -> BTreeMap<String, FuzzStats> {
    let row = |line: &str| {
        let mut cells = line.strip_prefix("| ")?.split(" | ");
        let name = cells.next()?.trim_matches('`').to_owned();
        let mut number = || Some(cells.next()?.replace(',', ""));
        let executions = number()?.parse().ok()?;
        let seconds = number()?.parse().ok()?;
        let done = FuzzStats {
            executions,
            seconds,
        };
        Some((name, done))
    };
    page.lines().filter_map(row).collect()
}

/// Formats the page.
pub(super) fn page(
    fuzz_paths: &FuzzPaths,
    all: &[String],
    table: &BTreeMap<String, FuzzStats>,
) -> Result<String> {
    let mut page = String::from(
        "# Fuzzing\n\n\
         Written by `cargo xtask fuzz`, which adds its executions. libFuzzer counts them, guided by edge coverage, with overflow checks and debug\n\
         assertions. More than 512 MiB or a second of CPU time counts as a failure. The targets are in `src/target.rs`, the inputs in\n\
         `tests/corpus.tar.zst`, those that once failed in `tests/faults`. `cargo test -p loadscope-fuzz` replays all of them.\n\n\
         | target | executions | CPU seconds | inputs | bytes | fixed failures |\n|---|---|---|---|---|---|\n",
    );
    let mut total = FuzzStats::default();
    let (mut inputs, mut bytes, mut mistakes) = (0, 0, 0);
    for target in all {
        let done = table.get(target).copied().unwrap_or_default();
        let (mut count, mut size, mut found) = (0, 0, Vec::new());
        let faults = fuzz_paths.faults(target);
        let faults = match faults.is_dir() {
            true => files(&faults)?,
            false => Vec::new(),
        };
        for path in files(&fuzz_paths.corpus(target))?.iter().chain(&faults) {
            count += 1;
            size += path.metadata()?.len();
        }
        for path in &faults {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            found.push(name.replace('-', " "));
        }
        writeln!(
            page,
            "| `{target}` | {} | {:.0} | {count} | {} | {} |",
            grouped(done.executions),
            done.seconds,
            grouped(size),
            match found.is_empty() {
                true => "—".to_owned(),
                false => found.join("; "),
            }
        )?;
        total.executions += done.executions;
        total.seconds += done.seconds;
        inputs += count;
        bytes += size;
        mistakes += found.len();
    }
    writeln!(
        page,
        "| all | {} | {:.0} | {inputs} | {} | {mistakes} |",
        grouped(total.executions),
        total.seconds,
        grouped(bytes)
    )?;
    Ok(page)
}

/// Formats a number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::super::fuzz_paths::targets;
    use super::*;

    #[test]
    fn new_results_are_added_to_the_table() -> Result<()> {
        let home = tempfile::tempdir()?;
        let fuzz_paths = FuzzPaths {
            home: home.path().to_owned(),
            work: home.path().join("work"),
        };
        for (path, bytes) in [
            (fuzz_paths.corpus("a").join("0123"), 7),
            (fuzz_paths.faults("a").join("a-hole"), 5),
            (fuzz_paths.corpus("b").join("1"), 2_000),
        ] {
            fs::create_dir_all(path.parent().context("a folder")?)?;
            fs::write(path, vec![0; bytes])?;
        }
        assert!(read_table(&fuzz_paths)?.is_empty());
        let all = targets(&fuzz_paths)?;
        let done = FuzzStats {
            executions: 1_234_567,
            seconds: 89.0,
        };
        let table = BTreeMap::from([("a".to_owned(), done)]);
        let page = page(&fuzz_paths, &all, &table)?;
        assert!(
            page.contains("| `a` | 1,234,567 | 89 | 2 | 12 | a hole |"),
            "{page}"
        );
        assert!(page.contains("| `b` | 0 | 0 | 1 | 2,000 | — |"), "{page}");
        assert!(
            page.contains("| all | 1,234,567 | 89 | 3 | 2,012 | 1 |"),
            "{page}"
        );
        assert_eq!(rows(&page).get("a"), Some(&done));
        Ok(())
    }
}
