//! Differences between two runs in options and datasets.

use loadscope_trace::{ArgValue, Argument, Origin, RunInfo, RunOptions, count};
use loadscope_words::say;

/// An option that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the option, with PyTorch's name if PyTorch has the option.
    pub name: &'static str,
    /// Value in the first run, in Python syntax.
    pub a: String,
    /// Value in the second run, in Python syntax.
    pub b: String,
}

impl Difference {
    /// Returns the difference as text: `num_workers 4 → 7`.
    pub fn text(&self) -> String {
        let Self { name, a, b } = self;
        format!("{name} {a} → {b}")
    }
}

/// Minimum value of a seed of PyTorch's default generator that counts as drawn by the system.
///
/// The system draws seeds of 53 bits. Programs choose smaller seeds.
const DRAWN: u64 = 1 << 32;

/// Returns the options without a `global_seed` that the system drew.
fn chosen(options: &RunOptions) -> RunOptions {
    RunOptions {
        global_seed: options.global_seed.filter(|seed| *seed < DRAWN),
        ..options.clone()
    }
}

/// Returns the options that differ between two runs.
///
/// A program's dataset is excluded, because its option is only Loadscope's model of the dataset. [`warnings`] compares datasets.
pub fn between(a: &RunInfo, b: &RunInfo) -> Vec<Difference> {
    let is_model = |info: &RunInfo| matches!(info.origin, Origin::Pytorch(_) | Origin::Import(_));
    let mut of_b = b.options.clone();
    if is_model(a) || is_model(b) {
        of_b.dataset.clone_from(&a.options.dataset);
    }
    differences(&a.options, &of_b)
}

/// Returns the options that differ.
fn differences(a: &RunOptions, b: &RunOptions) -> Vec<Difference> {
    let (a, b) = (&chosen(a), &chosen(b));
    let difference = |argument: Argument| match argument {
        // Both loaders have their own generator with the same seed, so torch.manual_seed differs.
        Argument::Generator if a.seed.is_some() && a.seed == b.seed => Difference {
            name: "manual_seed",
            a: seed(a.global_seed),
            b: seed(b.global_seed),
        },
        _ => Difference {
            name: argument.name(),
            a: shown(a, argument),
            b: shown(b, argument),
        },
    };
    Argument::changed(a, b)
        .into_iter()
        .map(difference)
        .collect()
}

fn seed(seed: Option<u64>) -> String {
    seed.map_or("None".to_owned(), |seed| seed.to_string())
}

/// Returns one line with the options that differ: `Options that differ: num_workers 4 → 7`.
pub fn line(a: &RunInfo, b: &RunInfo) -> String {
    let all = between(a, b);
    if all.is_empty() {
        return say!("Both runs have the same options").to_owned();
    }
    let all: Vec<String> = all.iter().map(Difference::text).collect();
    say!("Options that differ: {}", all.join(say!(", ")))
}

/// Returns warnings about differences in dataset, dataset size and batch size, which make two runs hard to compare.
pub fn warnings(a: &RunInfo, b: &RunInfo) -> Vec<String> {
    let mut warnings = Vec::new();
    match (a.dataset_len, b.dataset_len) {
        _ if differ_in_dataset(a, b) => {
            warnings.push(say!(
                "The recordings differ in dataset ({} and {}): the data may explain a change",
                a.dataset,
                b.dataset
            ));
        }
        (Some(of_a), Some(of_b)) if of_a != of_b => warnings.push(say!(
            "The recordings differ in dataset size ({} and {} samples): compare rates, not total times",
            count(of_a),
            count(of_b)
        )),
        _ => {}
    }
    if let (Some(of_a), Some(of_b)) = (batch_size(a), batch_size(b))
        && of_a != of_b
    {
        warnings.push(say!(
            "The recordings differ in batch_size ({of_a} and {of_b}): compare samples per second, not batches per second"
        ));
    }
    warnings
}

/// Returns true if both datasets are known and their names differ.
///
/// Datasets of PyTorch programs are compared by class, because one dataset can differ in length or script.
fn differ_in_dataset(a: &RunInfo, b: &RunInfo) -> bool {
    let class = |info: &RunInfo| info.dataset_class().unwrap_or(&info.dataset).to_owned();
    let (of_a, of_b) = (class(a), class(b));
    of_a != of_b && !of_a.is_empty() && !of_b.is_empty()
}

/// Returns `batch_size` in Python syntax. Returns `None` if it is unknown.
fn batch_size(info: &RunInfo) -> Option<String> {
    let is_known = info.batch_sampler.is_empty() && !matches!(info.origin, Origin::Import(_));
    let size = info.options.batch_size;
    is_known.then(|| size.map_or("None".to_owned(), |size| size.to_string()))
}

/// Returns an argument of `options` in Python syntax.
fn shown(options: &RunOptions, argument: Argument) -> String {
    match (argument, argument.value(options)) {
        // Without its own seed, a loader draws from the default generator.
        (Argument::Generator, ArgValue::None) => match options.global_seed {
            Some(seed) => format!("torch.manual_seed({seed})"),
            None => "None".to_owned(),
        },
        (Argument::BatchSize, ArgValue::None) => "none".to_owned(),
        (_, ArgValue::Real(number)) => format!("{number:?}"),
        (_, ArgValue::Text(text)) if text.is_empty() => "—".to_owned(),
        (_, value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::PinMemory;

    use super::*;

    #[test]
    fn differences_have_a_name_and_both_values() {
        let a = RunOptions {
            num_workers: 4,
            seed: Some(1),
            ..RunOptions::default()
        };
        let b = RunOptions {
            num_workers: 7,
            persistent_workers: true,
            global_seed: Some(3),
            seed: None,
            ..a.clone()
        };
        let mut texts: Vec<String> = differences(&a, &b).iter().map(Difference::text).collect();
        texts.sort();
        assert_eq!(
            texts,
            [
                "generator 1 → torch.manual_seed(3)",
                "num_workers 4 → 7",
                "persistent_workers False → True",
            ]
        );
        let info = |options: &RunOptions| RunInfo {
            options: options.clone(),
            ..RunInfo::default()
        };
        let same = line(&info(&a), &info(&a));
        assert_eq!(same, "Both runs have the same options");
        let program = |dataset: &str| RunInfo {
            origin: Origin::Pytorch("2.13.0".to_owned()),
            ..info(&RunOptions {
                dataset: dataset.to_owned(),
                ..a.clone()
            })
        };
        let (one, other) = (program("synthetic:len=400"), program("synthetic:len=800"));
        assert_eq!(line(&one, &other), "Both runs have the same options");
        let c = RunOptions {
            global_seed: Some(2),
            pin_memory: PinMemory::On,
            ..a.clone()
        };
        let mut texts: Vec<String> = differences(&a, &c).iter().map(Difference::text).collect();
        texts.sort();
        assert_eq!(texts, ["manual_seed None → 2", "pin_memory False → True"]);
        assert!(line(&info(&a), &info(&b)).starts_with("Options that differ: "));
        let unseeded = |seed| RunOptions {
            global_seed: Some(seed),
            ..RunOptions::default()
        };
        // Seeds that the system drew: the programs did not call torch.manual_seed.
        let (x, y) = (
            unseeded(5_862_114_070_351_283),
            unseeded(1_400_218_337_906_114),
        );
        assert_eq!(differences(&x, &y), []);
    }
}
