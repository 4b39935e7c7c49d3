//! Names of loaders, and search by name.

use std::collections::HashMap;

use loadscope_trace::{Run, RunId, RunInfo};
use loadscope_words::say;

/// The name of a loader: its rank, and its dataset.
pub fn name(info: &RunInfo) -> String {
    match info.world_size {
        0 | 1 => dataset(info).to_owned(),
        _ => say!("rank {} · {}", info.rank, dataset(info)),
    }
}

/// The line of the program that makes it, or else what it loads.
pub fn dataset(info: &RunInfo) -> &str {
    match (&info.made_at, info.dataset.as_str()) {
        (Some(line), _) => &line.name,
        (None, "") => say!("loader"),
        (None, dataset) => dataset,
    }
}

/// A property that distinguishes loaders of one name.
type Way = fn(RunId, &RunInfo) -> String;

/// Of two loaders of one dataset, the one that trains and the one that validates mostly differ in these.
const OPTIONS: [Way; 3] = [
    |_, info| match (info.options.sampler.as_str(), info.options.shuffle) {
        ("", true) => "shuffle=True".to_owned(),
        ("", false) => "shuffle=False".to_owned(),
        (sampler, _) => say!("{sampler} sampler"),
    },
    |_, info| match info.options.batch_size {
        Some(size) => format!("batch_size={size}"),
        None => "batch_size=None".to_owned(),
    },
    |_, info| format!("num_workers={}", info.options.num_workers),
];

/// What loaders are called beside each other: those of one name also by the recording they are from, by their host, by
/// options that differ or, if that is all the same, by their number.
pub fn names(all: &[(RunId, &Run)]) -> Vec<String> {
    let names = all.iter().map(|(_, run)| name(&run.info)).collect();
    let [sampler, batch_size, num_workers] = OPTIONS;
    let ways: [Way; 6] = [
        |_, info| info.recording.clone(),
        |_, info| info.host.clone(),
        sampler,
        batch_size,
        num_workers,
        |id, _| say!("loader {}", id.0),
    ];
    let tell = |way: &Way, at: usize| way(all[at].0, &all[at].1.info);
    disambiguate(names, &ways, tell)
}

/// What crews of loaders are called beside each other, each by positions in `all`: by their dataset, those of one dataset also
/// by options that differ or else by their numbers.
pub fn crew_names(all: &[(RunId, &Run)], crews: &[Vec<usize>]) -> Vec<String> {
    let first = |crew: &[usize]| all[crew[0]];
    let names = crews
        .iter()
        .map(|crew| dataset(&first(crew).1.info).to_owned());
    let ways = OPTIONS.map(Some).into_iter().chain([None]);
    let tell = |way: &Option<Way>, at: usize| match way {
        Some(way) => way(first(&crews[at]).0, &first(&crews[at]).1.info),
        None => say!("from loader {} on", first(&crews[at]).0.0),
    };
    disambiguate(names.collect(), &ways.collect::<Vec<_>>(), tell)
}

/// Adds to names that are the same what `tell` says of them, the first way that tells any of them apart first.
fn disambiguate<W>(
    mut names: Vec<String>,
    ways: &[W],
    tell: impl Fn(&W, usize) -> String,
) -> Vec<String> {
    for way in ways {
        let mut same: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            same.entry(name).or_default().push(at);
        }
        let mut longer = Vec::new();
        for crew in same.into_values().filter(|crew| crew.len() > 1) {
            let told: Vec<String> = crew.iter().map(|at| tell(way, *at)).collect();
            if told.iter().any(|one| *one != told[0]) {
                longer.extend(crew.into_iter().zip(told));
            }
        }
        for (at, more) in longer.into_iter().filter(|(_, more)| !more.is_empty()) {
            names[at] = format!("{} · {more}", names[at]);
        }
    }
    names
}

/// The loader that a text names: by its number, or by words of its name, its recording or its host (`rank 2`, `train`). Of
/// several that fit it is the one that was waited for longest.
///
/// # Errors
/// If none fits; it lists the loaders there are.
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

/// No loader fits what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", say!("no loader {asked:?} in this recording. Available: {}{}.", .there.join(", "), more(*.others), asked = .asked))]
pub struct NoSuchLoader {
    asked: String,
    /// The first loaders of the recording, number and name.
    there: Vec<String>,
    others: usize,
}

impl NoSuchLoader {
    fn new(asked: &str, all: &[(RunId, &Run)], names: &[String]) -> Self {
        let there = all.iter().zip(names).take(MOST_LISTED);
        Self {
            asked: asked.to_owned(),
            there: there
                .map(|((id, _), name)| say!("{} ({name})", id.0))
                .collect(),
            others: all.len().saturating_sub(MOST_LISTED),
        }
    }
}

fn more(others: usize) -> String {
    match others {
        0 => String::new(),
        n => say!(" and {n} more"),
    }
}

/// Loaders that are listed where none fits.
const MOST_LISTED: usize = 20;

/// The words of a text, in small letters.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// True if `wanted` stand side by side in `text`. Numbers are whole, words may go on: `val` is in `validation`.
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
    fn loaders_of_one_name_are_disambiguated() {
        let runs = [
            run(0, "a", "x"),
            run(0, "a", "y"),
            run(1, "a", "x"),
            run(2, "b", "x"),
            run(2, "b", "x"),
        ];
        let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&runs).collect();
        assert_eq!(
            names(&all),
            [
                "rank 0 · a · x",
                "rank 0 · a · y",
                "rank 1 · a",
                "rank 2 · b · loader 3",
                "rank 2 · b · loader 4"
            ]
        );
    }

    #[test]
    fn loaders_of_one_dataset_are_called_after_the_options_that_differ() {
        let of = |rank, shuffle, batch_size| {
            let mut run = run(rank, "a", "");
            run.info.options.shuffle = shuffle;
            run.info.options.batch_size = Some(batch_size);
            run
        };
        let mut runs = vec![
            of(0, true, 32),
            of(0, false, 32),
            of(1, true, 32),
            of(1, false, 32),
        ];
        let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&runs).collect();
        assert_eq!(names(&all)[1], "rank 0 · a · shuffle=False");
        let crews = [vec![0, 2], vec![1, 3]];
        let titles = ["a · shuffle=True", "a · shuffle=False"];
        assert_eq!(crew_names(&all, &crews), titles);
        runs = vec![of(0, true, 32), of(0, true, 64), of(0, true, 64)];
        let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&runs).collect();
        assert_eq!(
            crew_names(&all, &[vec![0], vec![1], vec![2]]),
            [
                "a · batch_size=32",
                "a · batch_size=64 · from loader 1 on",
                "a · batch_size=64 · from loader 2 on"
            ]
        );
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
