//! Search for a loader by name.

use loadscope_trace::fleet::names;
use loadscope_trace::{Run, RunId};
use loadscope_words::say;

/// Finds a loader by its number, or by words of its name, recording or host (`rank 2`, `train`). Among several matches,
/// the one with the longest waits is returned.
///
/// # Errors
/// If no loader matches. The error lists the loaders.
pub fn find(all: &[(RunId, &Run)], text: &str) -> Result<RunId, NoSuchLoader> {
    let (wanted, names) = (words(text), names(all));
    let number = text.trim().parse::<u32>().ok();
    let number = number.filter(|number| all.iter().any(|(id, _)| id.0 == *number));
    let fits = |(at, (id, run)): (usize, &(RunId, &Run))| match number {
        Some(number) => id.0 == number,
        None => {
            let places = [&names[at], &run.info.recording, &run.info.host];
            !wanted.is_empty() && places.iter().any(|place| holds(&words(place), &wanted))
        }
    };
    let found = all.iter().enumerate().filter(|one| fits(*one));
    let found = found.max_by_key(|(_, (id, run))| (run.waited(), std::cmp::Reverse(*id)));
    found
        .map(|(_, (id, _))| *id)
        .ok_or_else(|| NoSuchLoader::new(text.trim(), all, &names))
}

/// No loader matches the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", say!("no loader {asked:?} in this recording. Available: {}{}.", .there.join(", "), more(*.others), asked = .asked))]
pub struct NoSuchLoader {
    asked: String,
    /// First loaders of the recording, with number and name.
    there: Vec<String>,
    others: usize,
}

impl NoSuchLoader {
    fn new(asked: &str, all: &[(RunId, &Run)], names: &[String]) -> Self {
        let there = all.iter().zip(names).take(MAX_LISTED);
        Self {
            asked: asked.to_owned(),
            there: there
                .map(|((id, _), name)| say!("{} ({name})", id.0))
                .collect(),
            others: all.len().saturating_sub(MAX_LISTED),
        }
    }
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        n => say!(" and {n} more"),
    }
}

/// Maximum number of loaders that the error lists.
const MAX_LISTED: usize = 20;

/// Returns the words of a text in lower case.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns true if the words `wanted` are consecutive in `text`. Numbers must be equal, words can be prefixes: `val` matches `validation`.
fn holds(text: &[String], wanted: &[String]) -> bool {
    let same = |(text, wanted): (&String, &String)| match wanted.parse::<u64>() {
        Ok(_) => text == wanted,
        Err(_) => text.starts_with(wanted.as_str()),
    };
    text.windows(wanted.len())
        .any(|part| part.iter().zip(wanted).all(same))
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunInfo;

    use super::*;

    fn run(rank: u32, dataset: &str, recording: &str) -> Run {
        Run::new(RunInfo {
            rank,
            world_size: 12,
            dataset: dataset.to_owned(),
            recording: recording.to_owned(),
            ..RunInfo::default()
        })
    }

    #[test]
    fn a_loader_is_found_by_number_rank_and_words() {
        let runs = [
            run(0, "Photos to train", ""),
            run(0, "Photos for validation", ""),
            run(1, "Photos to train", ""),
            run(10, "Photos to train", "gpu-b"),
            run(11, "160 photos to train", ""),
        ];
        let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&runs).collect();
        for (text, wanted) in [
            ("2", 2),
            ("rank 1", 2),
            ("Rank 10", 3),
            ("val", 1),
            ("gpu-b", 3),
            ("train", 0),
            ("160", 4),
        ] {
            assert_eq!(find(&all, text), Ok(RunId(wanted)), "{text}");
        }
        for text in ["9", "rank 2", "test", "", "…"] {
            let said = find(&all, text).expect_err(text).to_string();
            assert!(
                said.contains("1 (rank 0 · Photos for validation)"),
                "{said}"
            );
        }
    }
}
