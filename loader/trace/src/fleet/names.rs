//! Unique names of the loaders of a session.

use std::collections::HashMap;

use loadscope_words::say;

use crate::{Run, RunId, RunInfo, plural};

/// Returns the name of a loader: its rank and place.
pub fn name(info: &RunInfo) -> String {
    match info.world_size {
        0 | 1 => place(info),
        _ => say!("rank {} · {}", info.rank, place(info)),
    }
}

/// Returns the program line that makes the loader, otherwise its dataset. A framework adds the role: `train.py:42 · val`.
pub fn place(info: &RunInfo) -> String {
    let place = match (&info.made_at, info.dataset.as_str()) {
        (Some(line), _) => &line.name,
        (None, "") => say!("loader"),
        (None, dataset) => dataset,
    };
    match info.role.as_str() {
        "" => place.to_owned(),
        role => format!("{place} · {role}"),
    }
}

/// Property that distinguishes loaders with the same name.
type LabelFn = fn(&RunInfo) -> String;

/// Properties of loaders made by the same line, the most informative first.
const OPTIONS: [LabelFn; 5] = [
    |info| match (info.options.sampler.as_str(), info.options.shuffle) {
        ("", true) => "shuffle=True".to_owned(),
        ("", false) => "shuffle=False".to_owned(),
        (sampler, _) => say!("{sampler} sampler"),
    },
    |info| match info.options.batch_size {
        Some(size) => format!("batch_size={size}"),
        None => "batch_size=None".to_owned(),
    },
    |info| format!("num_workers={}", info.options.num_workers),
    |info| {
        let samples = |n| plural(n, say!(n: "sample"), say!(n: "samples"));
        info.dataset_len.map(samples).unwrap_or_default()
    },
    |info| info.dataset.clone(),
];

/// Returns the names of all loaders of a session. Equal names are extended by recording, host, a differing option, or else the loader's
/// number in order of creation.
pub fn names(all: &[(RunId, &Run)]) -> Vec<String> {
    let names = all.iter().map(|(_, run)| name(&run.info)).collect();
    let places: [LabelFn; 2] = [|info| info.recording.clone(), |info| info.host.clone()];
    let labels = places.into_iter().chain(OPTIONS).map(Some).chain([None]);
    let describe = |label: &Option<LabelFn>, at: usize| match label {
        Some(label) => label(&all[at].1.info),
        None => say!("loader {}", all[at].0.0),
    };
    disambiguate(names, labels, describe)
}

/// Returns the names of groups of loaders, which `groups` gives as positions in `all`. Equal names are extended by a differing option, or
/// else by their first number.
pub fn group_names(all: &[(RunId, &Run)], groups: &[Vec<usize>]) -> Vec<String> {
    let first = |at: usize| all[groups[at][0]];
    let names = (0..groups.len()).map(|at| place(&first(at).1.info));
    let labels = OPTIONS.into_iter().map(Some).chain([None]);
    let describe = |label: &Option<LabelFn>, at: usize| match label {
        Some(label) => label(&first(at).1.info),
        None => say!("from loader {} on", first(at).0.0),
    };
    disambiguate(names.collect(), labels, describe)
}

/// Extends equal names by the first property in `labels` that differs.
fn disambiguate<W>(
    mut names: Vec<String>,
    labels: impl IntoIterator<Item = W>,
    describe: impl Fn(&W, usize) -> String,
) -> Vec<String> {
    for label in labels {
        let mut same: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, name) in names.iter().enumerate() {
            same.entry(name).or_default().push(at);
        }
        let mut longer = Vec::new();
        for group in same.into_values().filter(|group| group.len() > 1) {
            let described: Vec<String> = group.iter().map(|at| describe(&label, *at)).collect();
            if described.iter().any(|one| *one != described[0]) {
                longer.extend(group.into_iter().zip(described));
            }
        }
        for (at, more) in longer.into_iter().filter(|(_, more)| !more.is_empty()) {
            names[at] = format!("{} · {more}", names[at]);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceLine;

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
    fn loaders_of_one_dataset_are_named_by_differing_options() {
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
        let groups = [vec![0, 2], vec![1, 3]];
        let titles = ["a · shuffle=True", "a · shuffle=False"];
        assert_eq!(group_names(&all, &groups), titles);
        runs = vec![of(0, true, 32), of(0, true, 64), of(0, true, 64)];
        let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&runs).collect();
        assert_eq!(
            group_names(&all, &[vec![0], vec![1], vec![2]]),
            [
                "a · batch_size=32",
                "a · batch_size=64 · from loader 1 on",
                "a · batch_size=64 · from loader 2 on"
            ]
        );
    }

    /// Loaders made by the same helper have different names, even if they do not differ in any option.
    #[test]
    fn loaders_of_one_line_have_different_names() {
        let line = |change: &dyn Fn(&mut RunInfo)| {
            let mut info = RunInfo {
                dataset: "D of 256 samples in train.py".to_owned(),
                dataset_len: Some(256),
                made_at: Some(SourceLine {
                    file: "train.py".to_owned(),
                    line: 13,
                    name: "train.py:13".to_owned(),
                }),
                ..RunInfo::default()
            };
            change(&mut info);
            Run::new(info)
        };
        type Change = &'static dyn Fn(&mut RunInfo);
        let changes: [(Change, &str); 7] = [
            (&|info| info.options.shuffle = true, "shuffle=True"),
            (&|info| info.options.batch_size = Some(7), "batch_size=7"),
            (&|info| info.options.num_workers = 3, "num_workers=3"),
            (&|info| info.dataset_len = Some(1), "1 sample"),
            (
                &|info| info.dataset = "Other in train.py".to_owned(),
                "Other in train.py",
            ),
            (&|info| info.role = "val".to_owned(), "val"),
            (&|_| (), "loader 1"),
        ];
        for (change, described) in changes {
            let runs = [line(&|_| ()), line(change)];
            let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&runs).collect();
            let found = names(&all);
            assert_eq!(found[1], format!("train.py:13 · {described}"));
            assert_ne!(found[0], found[1]);
        }
        let all: Vec<Run> = changes.iter().map(|(change, _)| line(change)).collect();
        let all: Vec<(RunId, &Run)> = (0..).map(RunId).zip(&all).collect();
        let found: std::collections::BTreeSet<String> = names(&all).into_iter().collect();
        assert_eq!(found.len(), all.len(), "{found:?}");
    }
}
