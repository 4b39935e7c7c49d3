//! Invalid options, each with its reason in one line.

use loadscope_plan::plan::{check_options, normalized};
use loadscope_trace::{Argument, RunOptions};
use loadscope_words::say;

use crate::format::capital;

/// A problem with an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The row with the problem. `None` if no single option causes it.
    pub field: Option<Argument>,
    /// Reason in one line, for the options panel.
    pub text: String,
    /// Error message as in the command line.
    pub sentence: String,
}

/// Maximum number of reported problems.
const MAX_PROBLEMS: usize = 6;

/// Rows from the most specific to the most general. A row is the cause if resetting it changes the error message.
const SUSPECTS: &[Argument] = &[
    Argument::ExtraCost,
    Argument::ImageSize,
    Argument::NumSamples,
    Argument::Replacement,
    Argument::Rank,
    Argument::NumReplicas,
    Argument::PrefetchFactor,
    Argument::PersistentWorkers,
    Argument::Timeout,
    Argument::Context,
    Argument::DropLast,
    Argument::BatchSize,
    Argument::Epochs,
    Argument::Step,
    Argument::Shuffle,
    Argument::Sampler,
    Argument::NumWorkers,
    Argument::Dataset,
];

/// Returns the problems that are known without opening the dataset.
pub fn problems(options: &RunOptions) -> Vec<Problem> {
    let usual = RunOptions::default();
    let mut rest = options.clone();
    let mut all = Vec::new();
    while all.len() < MAX_PROBLEMS {
        let Some(sentence) = describe_option_error(&rest) else {
            break;
        };
        let mut mended = None;
        for field in SUSPECTS {
            let mut without = rest.clone();
            field.copy(&usual, &mut without);
            // Resetting a sampler or dataset also resets its arguments.
            if matches!(field, Argument::Sampler | Argument::Dataset) {
                without = normalized(without);
            }
            if describe_option_error(&without).as_ref() != Some(&sentence) {
                mended = Some((*field, without));
                break;
            }
        }
        let field = mended.as_ref().map(|(field, _)| *field);
        all.push(Problem {
            field,
            text: text(options, field, &sentence),
            sentence,
        });
        match mended {
            Some((_, without)) => rest = without,
            None => break,
        }
    }
    all
}

fn describe_option_error(options: &RunOptions) -> Option<String> {
    check_options(options).err().map(|e| e.to_string())
}

/// Removes the parts of the error message that only apply to the command line.
fn text(options: &RunOptions, field: Option<Argument>, sentence: &str) -> String {
    if let Some(missing) = field.and_then(|field| missing(options, field)) {
        return missing.to_owned();
    }
    let mut rest = sentence.lines().next().unwrap_or_default();
    // The field above already shows the entered text.
    for typed in [
        format!("extra_cost={}: ", options.extra_cost),
        format!("{}: ", options.dataset),
    ] {
        rest = rest.strip_prefix(&typed).unwrap_or(rest);
    }
    if let Some((kind, message)) = rest.split_once(": ")
        && kind.ends_with("Error")
    {
        rest = message;
    }
    // In `num_workers should be at most 1,024, but got num_workers=99999; …`, the field already shows name and value.
    let name = field.map_or("", Argument::name);
    if let Some(should) = rest
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix(say!(" should be ")))
        && let Some((what, _)) = should.split_once(say!(", but got"))
    {
        return capital(what);
    }
    // The panel lists the valid keys below the field.
    let question = rest.split_once(say!("? Valid: "));
    let cut = (rest.split_once(say!(". Valid: "))).or_else(|| rest.split_once(say!(". Example: ")));
    let rest = cut.or(question).map_or(rest, |(before, _)| before);
    let first = rest.split(' ').next().unwrap_or_default();
    let is_name = first.contains('_') || NAMES.contains(&first);
    let mut text = match is_name {
        true => rest.to_owned(),
        false => capital(rest),
    };
    // Restores the final punctuation mark, which was cut off.
    if question.is_some() {
        text.push(if rest.contains('。') { '？' } else { '?' });
    } else if cut.is_some() {
        let period = [(". ", '.'), ("。", '。')].into_iter();
        text.extend(period.filter(|(of, _)| rest.contains(of)).map(|(_, p)| p));
    }
    text
}

/// Names of costs, which stay in lower case at the start of a sentence.
const NAMES: [&str; 9] = [
    "len", "shape", "slow", "every", "jitter", "tail", "fail", "panic", "seed",
];

/// Returns a prompt for a file, folder or column that is not chosen yet.
fn missing(options: &RunOptions, field: Argument) -> Option<&'static str> {
    let nothing_behind = |text: &str| {
        text.split_once(':')
            .is_some_and(|(_, rest)| rest.trim().is_empty())
    };
    match field {
        Argument::Sampler if nothing_behind(&options.sampler) => {
            Some(match options.sampler.as_str() {
                "subset:" => say!("Choose a file of indices"),
                "weighted:" => say!("Choose a file of weights"),
                "group:" => say!("Enter a column"),
                _ => say!("Choose a file of labels"),
            })
        }
        Argument::Dataset if nothing_behind(&options.dataset) => {
            Some(match options.dataset.as_str() {
                "folder:" | "voc:" | "audio:" | "lmdb:" | "arrow:" => say!("Choose a folder"),
                "sql:" => say!("Enter a database and a query"),
                _ => say!("Choose a file"),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(options: RunOptions) -> Vec<(Option<Argument>, String)> {
        let all = problems(&options).into_iter();
        all.map(|p| (p.field, p.text)).collect()
    }

    #[test]
    fn each_problem_has_its_field_and_one_line() {
        assert_eq!(found(RunOptions::default()), []);
        let all = found(RunOptions {
            extra_cost: "len=24,fail=5".to_owned(),
            num_workers: 99_999,
            batch_size: Some(0),
            sampler: "weighted:".to_owned(),
            replacement: true,
            ..RunOptions::default()
        });
        let of = |field| {
            let one = all.iter().find(|(f, _)| *f == Some(field));
            one.map(|(_, text)| text.as_str()).unwrap_or_default()
        };
        assert_eq!(of(Argument::Sampler), "Choose a file of weights", "{all:?}");
        assert_eq!(
            of(Argument::ExtraCost),
            "len cannot be set here: the dataset fixes it. Remove len."
        );
        assert_eq!(of(Argument::NumWorkers), "At most 1,024");
        assert!(of(Argument::BatchSize).contains("ositive"), "{all:?}");
        assert_eq!(all.len(), 4);
        for (_, text) in &all {
            let of_command_line = ["--", "subset:", "weighted:", "extra_cost="];
            assert!(!of_command_line.iter().any(|s| text.contains(s)), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn a_missing_dataset_choice_is_requested() {
        let of = |dataset: &str| {
            let dataset = dataset.to_owned();
            found(RunOptions {
                dataset,
                ..RunOptions::default()
            })
        };
        assert_eq!(
            of("folder:"),
            [(Some(Argument::Dataset), "Choose a folder".to_owned())]
        );
        let cost = of("synthetic:len=24,cost=5");
        assert_eq!(
            cost,
            [(
                Some(Argument::Dataset),
                "Unknown key 'cost'. Did you mean cost_ms?".to_owned()
            )]
        );
    }

    #[test]
    fn each_argument_is_a_suspect_or_never_wrong() {
        /// Arguments that have no invalid value.
        const NEVER_WRONG: [Argument; 7] = [
            Argument::SamplerDropLast,
            Argument::SetEpoch,
            Argument::Generator,
            Argument::InOrder,
            Argument::CollateFn,
            Argument::PinMemory,
            Argument::OnError,
        ];
        for argument in Argument::ALL {
            let lists = [SUSPECTS, &NEVER_WRONG].map(|list| list.contains(argument));
            assert_ne!(lists[0], lists[1], "{argument:?}: add it to SUSPECTS");
        }
    }

    #[test]
    fn conflicting_options_are_one_problem() {
        let all = found(RunOptions {
            num_workers: 2,
            drop_last: true,
            batch_size: None,
            ..RunOptions::default()
        });
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].0, Some(Argument::DropLast));
    }
}
