//! Samples that fail to collate, and samples that end an epoch early with `StopIteration`.

use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Difference, Misfit, Run, brief, count, plural};
use loadscope_words::say;

/// Finds the sample that ended the run because `collate_fn` could not combine it with the others of its batch.
pub(super) fn collating(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let (at, message) = run.failure()?;
    let misfit = run.misfit(message.about?)?;
    let error = message.first_line().split(':').next().unwrap_or_default();
    let worker = match message.worker {
        Some(worker) => say!(" in worker {worker}"),
        None => String::new(),
    };
    let position = misfit.position as usize;
    Some(Finding {
        id: FindingId::Failed,
        text: say!(
            "Collating {}{worker} failed at {} ({}): {}",
            misfit.of,
            survey.format_time(at),
            brief(error.to_owned()),
            difference(run, misfit)
        ),
        severity: Severity::Critical,
        evidence: match misfit.usual.as_str() {
            "" => Evidence::Batch(misfit.of),
            _ => Evidence::Sample(misfit.of, position, index(run, misfit)),
        },
        remedy: remedy(run, misfit),
        cost: None,
    })
}

/// Returns the dataset index of the sample. Returns `None` if it is unknown.
fn index(run: &Run, misfit: &Misfit) -> Option<u64> {
    let row = run.row(misfit.of)?;
    run.indices(row).get(misfit.position as usize).copied()
}

/// Returns the difference between the sample and the others, as in `sample 4 (a.png) has shape [1, 16, 16], 7 others [3, 16, 16]`.
fn difference(run: &Run, misfit: &Misfit) -> String {
    let Misfit { got, usual, .. } = misfit;
    let kind = property(misfit.by);
    let qualified = |name: String| match misfit.field.as_str() {
        "" => name,
        field => say!("{field} of {name}"),
    };
    if usual.is_empty() {
        return say!(
            "the type of {} is {got}",
            qualified(say!("each sample").to_owned())
        );
    }
    let name = match index(run, misfit) {
        Some(index) => {
            let file = run
                .file_of(index)
                .map_or(String::new(), |file| format!(" ({file})"));
            say!("sample {}{file}", count(index))
        }
        None => say!("sample {} of {}", misfit.position, misfit.of),
    };
    let others = plural(u64::from(misfit.alike), say!(n: "other"), say!(n: "others"));
    say!("{} has {kind} {got}, {others} {usual}", qualified(name))
}

/// Returns the name of the property that differs, such as `shape`.
fn property(by: Difference) -> &'static str {
    match by {
        Difference::Shape => say!("shape"),
        Difference::Length => say!("length"),
        Difference::Keys => say!("keys"),
        Difference::Type => say!("type"),
    }
}

/// Returns the advice for a sample that fails to collate.
fn remedy(run: &Run, misfit: &Misfit) -> String {
    let arguments = &run.info.arguments;
    let has_own = arguments.iter().any(|a| a.starts_with("collate_fn="));
    if has_own && !misfit.usual.is_empty() {
        let kind = property(misfit.by);
        return say!(
            "Make collate_fn accept samples of different {kind}, or return the same {kind} for every sample from __getitem__"
        );
    }
    let (got, usual) = (shape(&misfit.got), shape(&misfit.usual));
    match misfit.by {
        Difference::Shape if differ_in_channels(&got, &usual) => {
            say!("Give all images the same channels: Image.open(path).convert(\"RGB\") in __getitem__")
        }
        Difference::Shape if got.len() == 3 && usual.len() == 3 => {
            say!("Resize or crop all images to one size, or pass a collate_fn that pads them")
        }
        Difference::Shape | Difference::Length => {
            say!("Pad or cut the samples to one size, or pass a collate_fn that pads them (torch.nn.utils.rnn.pad_sequence)")
        }
        Difference::Keys => say!("Return the same keys for every sample, or pass a collate_fn"),
        Difference::Type if misfit.got == "None" || misfit.usual == "None" => {
            say!("__getitem__ returns None for some samples: return another sample, or pass a collate_fn that drops None")
        }
        Difference::Type if misfit.usual.is_empty() => {
            say!("Return tensors, arrays, numbers or texts from __getitem__ (ToTensor() for images), or pass a collate_fn")
        }
        Difference::Type => say!("Return the same type for every sample, or pass a collate_fn"),
    }
    .to_owned()
}

/// Parses a shape such as `[3, 16, 16]`. Empty if the text is not a shape.
fn shape(text: &str) -> Vec<u64> {
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let numbers = inner
        .unwrap_or_default()
        .split(',')
        .map(|n| n.trim().parse());
    numbers.collect::<Result<_, _>>().unwrap_or_default()
}

/// Returns true if two image shapes differ only in their channels. An image has 1 to 4 channels in the first or last dimension, or only
/// height and width. At least one of the shapes has channels.
fn differ_in_channels(one: &[u64], other: &[u64]) -> bool {
    const CHANNELS: [u64; 4] = [1, 2, 3, 4];
    let sides = |shape: &[u64]| -> Vec<Vec<u64>> {
        match *shape {
            [a, b] => vec![vec![a, b]],
            [a, b, c] => {
                let first = CHANNELS.contains(&a).then(|| vec![b, c]);
                let last = CHANNELS.contains(&c).then(|| vec![a, b]);
                first.into_iter().chain(last).collect()
            }
            _ => vec![],
        }
    };
    let of_other = sides(other);
    one != other
        && sides(one).iter().any(|s| of_other.contains(s))
        && one.len().max(other.len()) == 3
}

/// Finds a `StopIteration` in `__getitem__`, which ends an epoch early without an error.
pub(super) fn stop_iteration(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let stops = run.messages().iter().filter(|(_, m)| m.ends_epoch());
    let stops: Vec<_> = stops.collect();
    let (at, message) = stops.first()?;
    let batch = message.about?;
    let sample = message.sample;
    let what = match sample {
        Some(index) => say!("sample {}", count(index)),
        None => batch.to_string(),
    };
    let epochs = stops.len() as u64;
    let cut = match epochs {
        1 => say!("ended epoch {} early, at {batch}", batch.epoch),
        n => say!(
            "ended {} early, first at {batch}",
            plural(n, say!(n: "epoch"), say!(n: "epochs"))
        ),
    };
    let after = match run.length() {
        Some(all) => say!(" of {}", count(all)),
        None => String::new(),
    };
    let position = run
        .row(batch)
        .zip(sample)
        .and_then(|(row, sample)| run.indices(row).iter().position(|index| *index == sample));
    Some(Finding {
        id: FindingId::EndedEarly,
        text: say!(
            "StopIteration in __getitem__ of {what} {cut}{after} (at {}). The loop ends without an error, and the rest of the epoch is lost.",
            survey.format_time(*at)
        ),
        severity: Severity::Critical,
        evidence: match position {
            Some(position) => Evidence::Sample(batch, position, sample),
            None if run.batch(batch).is_some() => Evidence::Batch(batch),
            None => Evidence::Range(*at, *at),
        },
        remedy: say!("In __getitem__, call next() with a default, as in next(iterator, None), or raise another error")
            .to_owned(),
        cost: None,
    })
}
