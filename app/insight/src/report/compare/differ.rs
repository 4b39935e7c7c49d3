//! Differences between the options and the datasets of two runs.

use loadscope_trace::{Origin, RunInfo, RunOptions, count};
use loadscope_words::say;
use serde_json::Value;

use crate::options::{Field, changed};

/// An option that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name, PyTorch's where PyTorch has one.
    pub name: &'static str,
    /// In the first run, as Python writes it.
    pub a: String,
    /// In the second one.
    pub b: String,
}

impl Difference {
    /// `num_workers 4 → 7`
    pub fn text(&self) -> String {
        let Self { name, a, b } = self;
        format!("{name} {a} → {b}")
    }
}

/// Seeds of PyTorch's default generator from here on count as drawn by the system, which draws 53 bits. Programs choose smaller ones.
const DRAWN: u64 = 1 << 32;

/// The options without a seed of the default generator that no program chose.
fn chosen(options: &RunOptions) -> RunOptions {
    RunOptions {
        global_seed: options.global_seed.filter(|seed| *seed < DRAWN),
        ..options.clone()
    }
}

/// The options that differ between two runs. The dataset of a program is in the warnings: its option is Loadscope's model of it.
pub fn between(a: &RunInfo, b: &RunInfo) -> Vec<Difference> {
    let is_model = |info: &RunInfo| matches!(info.origin, Origin::Pytorch(_) | Origin::Import(_));
    let mut of_b = b.options.clone();
    if is_model(a) || is_model(b) {
        of_b.dataset.clone_from(&a.options.dataset);
    }
    differences(&a.options, &of_b)
}

/// The options that differ.
fn differences(a: &RunOptions, b: &RunOptions) -> Vec<Difference> {
    let (a, b) = (&chosen(a), &chosen(b));
    let (x, y) = (serde_json::to_value(a), serde_json::to_value(b));
    let (Ok(x), Ok(y)) = (x, y) else {
        return Vec::new();
    };
    let of = |field: Field| match field {
        // Both draw from a generator of their own with the same seed.
        Field::Generator if a.seed.is_some() && a.seed == b.seed => Difference {
            name: "manual_seed",
            a: seed(a.global_seed),
            b: seed(b.global_seed),
        },
        _ => Difference {
            name: field.name(),
            a: shown(a, &x, field),
            b: shown(b, &y, field),
        },
    };
    changed(a, b).into_iter().map(of).collect()
}

fn seed(seed: Option<u64>) -> String {
    seed.map_or("None".to_owned(), |seed| seed.to_string())
}

/// The options that differ, in one line: `Options that differ: num_workers 4 → 7`.
pub fn line(a: &RunInfo, b: &RunInfo) -> String {
    let all = between(a, b);
    if all.is_empty() {
        return say!("Both runs have the same options").to_owned();
    }
    let all: Vec<String> = all.iter().map(Difference::text).collect();
    say!("Options that differ: {}", all.join(say!(", ")))
}

/// Warnings about differences that make numbers of two runs hard to compare: other datasets, other batch sizes.
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

/// True if the datasets are known and have other names. The name of a PyTorch program's dataset is its class: the same dataset can have
/// another length, or belong to another script.
fn differ_in_dataset(a: &RunInfo, b: &RunInfo) -> bool {
    let class = |info: &RunInfo| info.dataset_class().unwrap_or(&info.dataset).to_owned();
    let (of_a, of_b) = (class(a), class(b));
    of_a != of_b && !of_a.is_empty() && !of_b.is_empty()
}

/// `batch_size` as Python writes it; `None` if it is not known.
fn batch_size(info: &RunInfo) -> Option<String> {
    let is_known = info.batch_sampler.is_empty() && !matches!(info.origin, Origin::Import(_));
    let size = info.options.batch_size;
    is_known.then(|| size.map_or("None".to_owned(), |size| size.to_string()))
}

/// A field of `options` as text. `all` contains all of them as JSON.
fn shown(options: &RunOptions, all: &Value, field: Field) -> String {
    match (field, all.get(field.option())) {
        // With a seed of its own a loader draws nothing from the default generator.
        (Field::Generator, None | Some(Value::Null)) => match options.global_seed {
            Some(seed) => format!("torch.manual_seed({seed})"),
            None => "None".to_owned(),
        },
        (Field::PinMemory, _) => options.pin_memory.python().to_owned(),
        (_, None | Some(Value::Null)) => "None".to_owned(),
        (_, Some(Value::Bool(on))) => if *on { "True" } else { "False" }.to_owned(),
        (_, Some(Value::String(text))) if text.is_empty() => "—".to_owned(),
        (_, Some(Value::String(text))) => text.clone(),
        (_, Some(other)) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::PinMemory;

    use super::*;

    #[test]
    fn what_differs_has_its_name_and_both_values() {
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
        // The program did not call torch.manual_seed.
        let (x, y) = (
            unseeded(5_862_114_070_351_283),
            unseeded(1_400_218_337_906_114),
        );
        assert_eq!(differences(&x, &y), []);
    }
}
