//! Outcome of a repair, as text or JSON.

use std::fs;
use std::path::{Path, PathBuf};

use loadscope_trace::{Damage, Gap, Nanos, count, plural};
use loadscope_words::say;
use serde_json::{Value, json};

use super::super::terminal::{print_line, print_message};

/// Damage of a recording, and the output file if it is damaged.
pub(super) struct Outcome {
    pub damage: Damage,
    /// Damage of each part by name, if the recording has parts.
    pub parts: Vec<(String, Damage)>,
    pub output: Option<PathBuf>,
}

/// Prints the outcome for the recording at `path`. It uses standard error if the recording goes to standard output.
pub(super) fn report(path: &Path, is_json: bool, outcome: &Outcome) -> anyhow::Result<()> {
    let output = outcome.output.as_deref();
    let text = match (is_json, output) {
        (true, _) => object(outcome).to_string(),
        (false, Some(output)) => describe(path, output, outcome),
        (false, None) => say!(
            "{} is intact: {}, nothing lost. No file was written.",
            path.display(),
            plural(outcome.damage.kept, say!(n: "event"), say!(n: "events"))
        ),
    };
    let is_file = |path: &Path| {
        let is_special = ["/dev", "/proc"]
            .iter()
            .any(|folder| path.starts_with(folder));
        !is_special && fs::metadata(path).is_ok_and(|found| found.is_file())
    };
    if output.is_none_or(is_file) {
        return print_line(&text);
    }
    print_message(text);
    Ok(())
}

/// Returns the outcome as one JSON object.
fn object(outcome: &Outcome) -> Value {
    let Outcome {
        damage,
        parts,
        output,
    } = outcome;
    let seconds = |at: Option<Nanos>| at.map(Nanos::as_secs_f64);
    let own = damage.gaps.iter().map(|gap| (None, gap));
    let theirs = parts.iter().flat_map(|(name, damage)| {
        let gaps = damage.gaps.iter();
        gaps.map(move |gap| (Some(name), gap))
    });
    let gap = |(part, gap): (Option<&String>, &Gap)| {
        json!({
            "part": part,
            "lines": gap.lines.map(|(first, last)| [first, last]),
            "bytes": [gap.bytes.start, gap.bytes.end],
            "after_seconds": seconds(gap.after),
            "before_seconds": seconds(gap.before),
        })
    };
    json!({
        "sound": output.is_none(),
        "output": output.as_ref().map(|path| path.display().to_string()),
        "kept_events": damage.kept,
        "lost_lines": damage.lost,
        "more_lines_may_be_lost": damage.lost_is_at_least,
        "damaged_bytes": damage.bytes,
        "gaps": own.chain(theirs).map(gap).collect::<Vec<_>>(),
        "more_gaps": damage.more_gaps,
        "header_replaced": damage.header_replaced,
        "cut": damage.cut,
        "unconfirmed_events": damage.unconfirmed,
        "compressed": damage.packed,
    })
}

/// Returns the outcome as text.
fn describe(path: &Path, output: &Path, outcome: &Outcome) -> String {
    let Outcome { damage, parts, .. } = outcome;
    let mut lines = vec![say!("{} is damaged", path.display())];
    if parts.is_empty() {
        describe_damage(&mut lines, damage);
    }
    for (name, damage) in parts.iter().filter(|(_, damage)| !damage.is_none()) {
        lines.push(format!("{name}:"));
        describe_damage(&mut lines, damage);
    }
    lines.push(say!(
        "Wrote {} to {}",
        plural(damage.kept, say!(n: "event"), say!(n: "events")),
        output.display()
    ));
    lines.join("\n")
}

/// Adds lines about the damage of a file.
fn describe_damage(lines: &mut Vec<String>, damage: &Damage) {
    lines.push(describe_loss(damage));
    if damage.bytes > 0 {
        lines.push(say!(
            "Damaged: {} of {}",
            plural(damage.bytes, say!(n: "byte"), say!(n: "bytes")),
            match damage.packed {
                true => say!("compressed data"),
                false => say!("the file"),
            }
        ));
    }
    lines.extend(damage.gaps.iter().map(describe_gap));
    if damage.more_gaps > 0 {
        lines.push(say!(
            "  and {}",
            plural(
                damage.more_gaps,
                say!(n: "more place"),
                say!(n: "more places")
            )
        ));
    }
    if damage.header_replaced {
        lines.push(say!("The header is lost. A new one replaces it.").to_owned());
    }
    if damage.cut {
        lines.push(
            say!("The recording is truncated. Everything before the cut was recovered.").to_owned(),
        );
    }
    if damage.unconfirmed > 0 {
        lines.push(say!(
            "{} have no valid checksum and may differ from the original",
            plural(damage.unconfirmed, say!(n: "event"), say!(n: "events"))
        ));
    }
}

/// Returns a line such as `2 lines are lost`.
fn describe_loss(damage: &Damage) -> String {
    match (damage.lost, damage.lost_is_at_least) {
        (0, true) => say!("An unknown number of lines is lost").to_owned(),
        (0, false) => say!("No line is lost").to_owned(),
        (1, true) => say!("At least 1 line is lost").to_owned(),
        (1, false) => say!("1 line is lost").to_owned(),
        (more, true) => say!("At least {} lines are lost", count(more)),
        (more, false) => say!("{} lines are lost", count(more)),
    }
}

/// Returns a line such as `  lines 4–5 · bytes 129–221 · between 3 ns and 6 ns`.
fn describe_gap(gap: &Gap) -> String {
    let range = |name: &str, names: &str, first: u64, last: u64| match first == last {
        true => format!("{name} {}", count(first)),
        false => format!("{names} {}–{}", count(first), count(last)),
    };
    let mut parts = Vec::new();
    parts.extend(
        gap.lines
            .map(|(first, last)| range("line", "lines", first, last)),
    );
    if !gap.bytes.is_empty() {
        parts.push(range("byte", "bytes", gap.bytes.start, gap.bytes.end - 1));
    }
    parts.extend(match (gap.after, gap.before) {
        (Some(after), Some(before)) => Some(say!("between {after} and {before}")),
        (Some(after), None) => Some(say!("after {after}")),
        (None, Some(before)) => Some(say!("before {before}")),
        (None, None) => None,
    });
    format!("  {}", parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gap_is_printed_on_one_line() {
        let gap = Gap {
            lines: Some((4, 1_005)),
            bytes: 129..10_222,
            after: Some(Nanos::from_millis(1_500)),
            before: Some(Nanos::from_millis(2_500)),
        };
        let damage = Damage {
            kept: 7,
            lost: 1_002,
            bytes: 10_093,
            gaps: vec![
                gap,
                Gap {
                    bytes: 3..4,
                    ..Gap::default()
                },
            ],
            more_gaps: 1,
            cut: true,
            ..Damage::default()
        };
        let outcome = Outcome {
            damage,
            parts: Vec::new(),
            output: None,
        };
        let text = describe(Path::new("a.jsonl"), Path::new("b.jsonl"), &outcome);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "a.jsonl is damaged",
                "1,002 lines are lost",
                "Damaged: 10,093 bytes of the file",
                "  lines 4–1,005 · bytes 129–10,221 · between 1.50\u{2009}s and 2.50\u{2009}s",
                "  byte 3",
                "  and 1 more place",
                "The recording is truncated. Everything before the cut was recovered.",
                "Wrote 7 events to b.jsonl",
            ]
        );
    }
}
