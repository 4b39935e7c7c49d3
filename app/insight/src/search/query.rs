//! Search queries and their syntax.

use std::fmt;

use loadscope_trace::Nanos;

/// Items whose durations are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Single samples.
    Samples,
    /// Batches in their worker.
    Batches,
    /// Waits of the trainer.
    Waits,
}

/// A search query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A batch by its index, in one epoch or in every epoch.
    Batch {
        /// Task index.
        idx: u64,
        /// Epoch, from 0.
        epoch: Option<u64>,
    },
    /// Every occurrence of a sample, by dataset index.
    Sample(u64),
    /// A worker by its number.
    Worker(u64),
    /// Samples, batches or waits that took longer than this.
    Slow(Subject, Nanos),
    /// Samples, batches or waits that took longest.
    Slowest(Subject),
    /// Errors and dropped events.
    Trouble,
    /// Messages that are warnings.
    Warnings,
    /// Arrivals out of order.
    OutOfOrder,
    /// Waits of the trainer that matter.
    Stalls,
    /// Instant on the run's time axis.
    At(Nanos),
    /// Text in a message, in lower case.
    Text(String),
}

impl Query {
    /// Examples of all queries.
    pub const EXAMPLES: [&'static str; 9] = [
        "512",
        "sample 40123",
        "worker 3",
        "slowest",
        "slower than 200 ms",
        "waits longer than 1 s",
        "out of order",
        "errors",
        "at 1.5 s",
    ];

    /// Parses the search text. Returns `None` if it is empty.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.replace(['\u{2009}', '\u{a0}'], " ").to_lowercase();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return None;
        }
        let understood = of_word(&text)
            .or_else(|| of_number(&text))
            .or_else(|| slowest(&text))
            .or_else(|| slow(&text))
            .or_else(|| instant(&text));
        Some(understood.unwrap_or(Self::Text(text)))
    }
}

fn of_word(text: &str) -> Option<Query> {
    Some(match text {
        "error" | "errors" | "failed" | "failure" | "failures" | "lost" | "trouble" => {
            Query::Trouble
        }
        "warning" | "warnings" => Query::Warnings,
        "out of order" | "held" => Query::OutOfOrder,
        "stall" | "stalls" | "wait" | "waits" | "waiting" => Query::Stalls,
        _ => return None,
    })
}

/// Parses `512`, `batch 512`, `batch 512 of epoch 2`, `sample 4`, `worker 3`, and abbreviations with the first letter.
fn of_number(text: &str) -> Option<Query> {
    let text = text.strip_prefix('#').unwrap_or(text);
    if let Some(idx) = whole(text) {
        return Some(Query::Batch { idx, epoch: None });
    }
    let after = |names: &[&str]| {
        let rest = names.iter().find_map(|name| text.strip_prefix(name))?;
        Some(rest.trim_start())
    };
    if let Some(rest) = after(&["batch", "b"]) {
        if let Some((idx, epoch)) = rest.split_once(" of epoch ") {
            return Some(Query::Batch {
                idx: whole(idx)?,
                epoch: Some(whole(epoch)?),
            });
        }
        return whole(rest).map(|idx| Query::Batch { idx, epoch: None });
    }
    if let Some(rest) = after(&["sample", "index", "s"]) {
        return whole(rest).map(Query::Sample);
    }
    whole(after(&["worker", "w"])?).map(Query::Worker)
}

/// Parses `slowest`, `slowest batches`, `slow`, `longest waits`.
fn slowest(text: &str) -> Option<Query> {
    let (how, what) = text.split_once(' ').unwrap_or((text, ""));
    if !matches!(
        how,
        "slow" | "slowest" | "longest" | "long" | "expensive" | "max"
    ) {
        return None;
    }
    Some(Query::Slowest(match what {
        "" if how.starts_with("long") => Subject::Waits,
        "" => Subject::Samples,
        _ => subject(what)?,
    }))
}

fn subject(text: &str) -> Option<Subject> {
    Some(match text {
        "samples" | "sample" => Subject::Samples,
        "batches" | "batch" => Subject::Batches,
        "waits" | "wait" | "stalls" | "stall" => Subject::Waits,
        _ => return None,
    })
}

/// Parses `slower than 200 ms`, `batches slower than 2 s`, `waits longer than 1 s`, `> 5 ms`.
fn slow(text: &str) -> Option<Query> {
    let named = text
        .split_once(' ')
        .and_then(|(first, rest)| Some((subject(first)?, rest)));
    let (subject, rest) = named.unwrap_or((Subject::Samples, text));
    let words = [
        "slower than",
        "longer than",
        "slower",
        "longer",
        "over",
        ">",
    ];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    Some(Query::Slow(subject, duration(rest, Some(1e6))?))
}

/// Parses `at 1.5 s` and `1.5 s`.
fn instant(text: &str) -> Option<Query> {
    match text.strip_prefix("at ") {
        Some(rest) => duration(rest, Some(1e6)).map(Query::At),
        None => duration(text, None).map(Query::At),
    }
}

fn whole(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// Parses a duration. `unit` (ns) applies to a number without a unit.
fn duration(text: &str, unit: Option<f64>) -> Option<Nanos> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let scale = match text[number.len()..].trim() {
        "" => unit?,
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "min" => 60e9,
        _ => return None,
    };
    let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let value: f64 = number.parse().ok().filter(|_| plain)?;
    // The limit is about 300 years, later than every event.
    Some(Nanos((value * scale).round().min(9e18) as i64))
}

/// Formats a time exactly, in the largest unit without decimals.
fn exact(time: Nanos) -> String {
    let (scale, unit) = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")]
        .into_iter()
        .find(|(scale, _)| time.0 % scale == 0)
        .unwrap_or((1, "ns"));
    format!("{} {unit}", time.0 / scale)
}

/// Formats the query so that parsing the text returns the same query.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Batch { idx, epoch: None } => write!(f, "batch {idx}"),
            Self::Batch {
                idx,
                epoch: Some(epoch),
            } => write!(f, "batch {idx} of epoch {epoch}"),
            Self::Sample(index) => write!(f, "sample {index}"),
            Self::Worker(worker) => write!(f, "worker {worker}"),
            Self::Slow(subject, than) => {
                let words = match subject {
                    Subject::Samples => "samples slower than",
                    Subject::Batches => "batches slower than",
                    Subject::Waits => "waits longer than",
                };
                write!(f, "{words} {}", exact(*than))
            }
            Self::Slowest(subject) => f.write_str(match subject {
                Subject::Samples => "slowest samples",
                Subject::Batches => "slowest batches",
                Subject::Waits => "longest waits",
            }),
            Self::Trouble => f.write_str("errors"),
            Self::Warnings => f.write_str("warnings"),
            Self::OutOfOrder => f.write_str("out of order"),
            Self::Stalls => f.write_str("stalls"),
            Self::At(at) => write!(f, "at {}", exact(*at)),
            Self::Text(text) => f.write_str(text),
        }
    }
}
