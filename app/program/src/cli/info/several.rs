//! Summary of several loaders, in total and for each loader.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use loadscope_diagnose::straggler;
use loadscope_trace::{Nanos, Run, RunId, Summary, plural};
use loadscope_words::{display_width, pad_end, pad_start, say};
use serde_json::{Value, json};

use super::facts::{facts, messages};
use loadscope_insight::format;
use loadscope_insight::loaders::{clocks, describe_straggler, group_names, names, rank_groups};
use loadscope_insight::report::loader::named;
use loadscope_session::Opened;

/// Maximum width of the name column, characters.
const NAME: usize = 48;

/// Totals of all loaders.
struct Sum {
    summary: Summary,
    ranks: usize,
    hosts: BTreeSet<String>,
}

impl Sum {
    fn of(all: &[(RunId, &Run)]) -> Self {
        let of_ranks = all.iter().filter(|(_, run)| run.info.world_size > 1);
        let ranks: BTreeSet<u32> = of_ranks.map(|(_, run)| run.info.rank).collect();
        let hosts = all.iter().map(|(_, run)| run.info.host.clone());
        Self {
            summary: Summary::combined(all.iter().map(|(_, run)| *run)),
            ranks: ranks.len(),
            hosts: hosts.filter(|host| !host.is_empty()).collect(),
        }
    }
}

/// Returns one JSON object with the totals, and a list with the facts of each loader.
pub(super) fn object(all: &[(RunId, &Run)], opened: &Opened) -> anyhow::Result<Value> {
    let sum = Sum::of(all);
    let mut object = serde_json::to_value(&sum.summary)?;
    let mut loaders = Vec::new();
    for (one, (_, run)) in named(all).iter().zip(all) {
        let mut loader = one.json();
        if let (Some(map), Value::Object(facts)) = (loader.as_object_mut(), facts(run)?) {
            map.extend(facts);
            map.insert("recording".to_owned(), json!(run.info.recording));
            map.insert("dataset".to_owned(), json!(run.info.dataset));
            map.insert("clock".to_owned(), json!(run.info.clock));
        }
        loaders.push(loader);
    }
    if let Some(map) = object.as_object_mut() {
        map.insert("cut".to_owned(), opened.cut.into());
        map.insert("ranks".to_owned(), sum.ranks.into());
        map.insert("hosts".to_owned(), json!(sum.hosts));
        map.insert("loaders".to_owned(), loaders.into());
        let notes: Vec<&str> = opened.notes.iter().map(|n| n.text.as_str()).collect();
        map.insert("notes".to_owned(), json!(notes));
    }
    Ok(object)
}

/// Returns the summary as text. `cut` is the message about a truncated recording.
pub(super) fn text(all: &[(RunId, &Run)], cut: Option<&str>) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    let sum = Sum::of(all);
    let mut facts = vec![plural(
        all.len() as u64,
        say!(n: "loader"),
        say!(n: "loaders"),
    )];
    if sum.ranks > 0 {
        facts.push(plural(sum.ranks as u64, say!(n: "rank"), say!(n: "ranks")));
    }
    if sum.hosts.len() > 1 {
        let hosts: Vec<&str> = sum.hosts.iter().map(String::as_str).collect();
        facts.push(say!("on {}", hosts.join(", ")));
    }
    writeln!(out, "{}\n", facts.join(" · "))?;
    table(&mut out, all, &sum)?;
    let rank_groups = rank_groups(all);
    for (crew, called) in rank_groups.iter().zip(group_names(all, &rank_groups)) {
        let runs: Vec<(RunId, &Run)> = crew.iter().map(|k| all[*k]).collect();
        let slow = straggler(runs.iter().copied());
        if let Some(sentence) = describe_straggler(&runs, slow.as_ref(), Some(&called)) {
            writeln!(out, "{sentence}")?;
        }
    }
    clocks(all)
        .iter()
        .try_for_each(|text| writeln!(out, "{text}"))?;
    for ((_, run), name) in all.iter().zip(names(all)) {
        let mut said = String::new();
        messages(&mut said, run)?;
        said.lines()
            .try_for_each(|line| writeln!(out, "{}", say!("{name}: {line}")))?;
    }
    if let Some(sentence) = cut {
        writeln!(out, "{sentence}")?;
    }
    Ok(out)
}

fn table(out: &mut String, all: &[(RunId, &Run)], sum: &Sum) -> std::fmt::Result {
    let names: Vec<String> = names(all).into_iter().map(|name| short(&name)).collect();
    let longest = names.iter().map(|name| display_width(name)).max();
    let width = longest.unwrap_or_default().max(6);
    writeln!(
        out,
        "{}  {:width$}{}{}{}{}{}{}{}{}",
        pad_start(say!(column: "loader"), 6),
        "",
        pad_start(say!(column: "epochs"), 8),
        pad_start(say!(column: "batches"), 10),
        pad_start(say!(column: "samples"), 12),
        pad_start(say!(column: "time"), 12),
        pad_start(say!(column: "samples/s"), 12),
        pad_start(say!(column: "waited"), 12),
        pad_start(say!(column: "share"), 8),
        pad_start(say!(column: "dropped"), 10)
    )?;
    let mut row = |number: &str, name: &str, s: &Summary, share: String| {
        let time = |s: f64| Nanos::from_secs_f64(s).to_string();
        // A value that the source does not record is shown as missing, not as zero.
        let counts = s.samples > 0 || s.batches == 0;
        let of_samples = |text: String| if counts { text } else { "—".to_owned() };
        writeln!(
            out,
            "{}  {}{:>8}{:>10}{:>12}{:>12}{:>12}{:>12}{share:>8} {:>9}",
            pad_start(number, 6),
            pad_end(name, width),
            format::count(s.epochs),
            format::count(s.batches),
            of_samples(format::count(s.samples)),
            time(s.seconds),
            of_samples(format!("{:.1}", s.samples_per_second)),
            time(s.waited_seconds),
            format::count(s.dropped),
        )
    };
    for ((id, run), name) in all.iter().zip(&names) {
        let s = Summary::of(run);
        let share = match s.seconds > 0.0 {
            true => format::percent(s.waited_seconds / s.seconds),
            false => "—".to_owned(),
        };
        row(&id.0.to_string(), name, &s, share)?;
    }
    row(say!(column: "all"), "", &sum.summary, String::new())?;
    writeln!(out)
}

/// Shortens a name in the middle, because names differ at their ends.
fn short(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= NAME {
        return name.to_owned();
    }
    let begin = NAME / 2;
    let end = letters.len() - (NAME - begin - 1);
    letters[..begin]
        .iter()
        .chain(&['…'])
        .chain(&letters[end..])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_ends() {
        let name = "rank 0 · photographs of 1,000,000 birds in train.py · shuffle=False";
        let cut = short(name);
        assert_eq!(cut.chars().count(), NAME);
        assert!(
            cut.starts_with("rank 0 · photographs") && cut.ends_with(" · shuffle=False"),
            "{cut}"
        );
        assert_eq!(short("rank 0 · a"), "rank 0 · a");
    }
}
