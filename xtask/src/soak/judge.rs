//! Checks that the resources of a process did not grow.

use super::row::{Row, count};
use super::sample::Sample;

const MB: u64 = 1_000_000;

/// Minimum number of samples per compared interval.
const LEAST: usize = 5;

/// Tolerance for descriptors. A reader of a limited recording has all of its parts open.
const DESCRIPTORS: u64 = 16;

/// Tolerance for threads, such as those of a calculation or a file that is saved.
const THREADS: u64 = 8;

/// Returns the rows about a process with this number of events. `most` is the limit of its files, bytes.
pub fn rows(samples: &[Sample], events: u64, most: Option<u64>) -> Vec<Row> {
    let tenth = events / 10;
    let (second, rest): (Vec<Sample>, Vec<Sample>) = samples
        .iter()
        .filter(|sample| sample.done >= tenth)
        .partition(|sample| sample.done < 2 * tenth);
    let mut rows = vec![
        compare_growth(
            "resident memory",
            &second,
            &rest,
            |sample| sample.memory,
            |before| before + before / 10 + 16 * MB,
            |bytes| format!("{:.1} MB", bytes as f64 / 1e6),
        ),
        compare_growth(
            "open descriptors",
            &second,
            &rest,
            |sample| sample.descriptors,
            |before| before + DESCRIPTORS,
            count,
        ),
        compare_growth(
            "threads",
            &second,
            &rest,
            |sample| sample.threads,
            |before| before + THREADS,
            count,
        ),
    ];
    if let Some(most) = most {
        let largest = samples.iter().map(|sample| sample.files).max();
        let largest = largest.unwrap_or_default();
        rows.push(Row::new(
            "all files of the recording together, from outside",
            format!(
                "at most {:.1} MB of {:.0} MB, looked at {} times",
                largest as f64 / 1e6,
                most as f64 / 1e6,
                count(samples.len() as u64)
            ),
            Some(largest <= most),
        ));
    }
    rows
}

/// Compares the largest value of the rest with that of the second tenth.
fn compare_growth(
    what: &str,
    second: &[Sample],
    rest: &[Sample],
    of: fn(&Sample) -> u64,
    allowed: fn(u64) -> u64,
    shown: fn(u64) -> String,
) -> Row {
    let most = |samples: &[Sample]| samples.iter().map(of).max().unwrap_or_default();
    let (before, after) = (most(second), most(rest));
    let what = format!("{what}: largest in the second tenth, largest after it");
    if second.len() < LEAST || rest.len() < LEAST {
        let text = format!("{}, {}; too short to judge", shown(before), shown(after));
        return Row::new(&what, text, None);
    }
    let text = format!("{}, {}", shown(before), shown(after));
    Row::new(&what, text, Some(after <= allowed(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(memory: impl Fn(u64) -> u64) -> Vec<Sample> {
        let sample = |done: u64| Sample {
            done,
            memory: memory(done),
            descriptors: 10,
            threads: 4,
            files: done,
        };
        (0..=100).map(sample).collect()
    }

    fn memory_of(memory: impl Fn(u64) -> u64) -> Option<bool> {
        rows(&samples(memory), 100, None)[0].holds
    }

    #[test]
    fn memory_growth_after_the_first_tenth_fails() {
        assert_eq!(memory_of(|_| 100 * MB), Some(true));
        assert_eq!(memory_of(|done| done.min(12) * 10 * MB), Some(true));
        assert_eq!(memory_of(|done| 100 * MB + done * MB / 10), Some(true));
        assert_eq!(memory_of(|done| 100 * MB + done * MB), Some(false));
    }

    #[test]
    fn few_samples_are_not_judged() {
        let few = &samples(|done| done * MB)[..13];
        let found = rows(few, 100, Some(5));
        assert_eq!(found[0].holds, None);
        assert_eq!(
            found[3].holds,
            Some(false),
            "the limit holds from the beginning"
        );
    }
}
