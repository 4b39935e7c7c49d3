//! `loadscope repair`: recovers the intact lines of a damaged recording.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use loadscope_files::{NewFile, is_being_written, open_regular, refuse_input};
use loadscope_trace::{
    Compression, Damage, Gap, LogError, LogReader, LogWriter, Nanos, count, plural, repair,
};
use loadscope_words::say;
use serde_json::{Value, json};

use super::force::ForceArg;
use super::terminal::{complain, say};
use loadscope_session::look;

/// The damaged recording, and the output.
#[derive(Debug, Args)]
pub struct RepairArgs {
    /// Damaged recording, .jsonl or .jsonl.zst
    ///
    /// This file is not changed.
    file: PathBuf,
    /// Output file, .jsonl or .jsonl.zst [default: NAME.repaired.jsonl.zst next to the recording]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: &RepairArgs) -> anyhow::Result<ExitCode> {
    let path = &args.file;
    let input = open_regular(path)?;
    if is_being_written(path) {
        bail!(say!(
            "{} is being recorded. Wait until the recording has ended.",
            path.display()
        ));
    }
    if let Ok(reader) = LogReader::new(input.try_clone()?)
        && let Some(folder) = reader.parts()
    {
        bail!(say!(
            "{} consists of several files. Repair each one: `loadscope repair {folder}/NUMBER.jsonl.zst`.",
            path.display()
        ));
    }
    (&input).rewind()?;
    // The first pass only checks: an intact recording is not written again.
    let damage = read(path, &input, |_| Ok(()))?;
    if damage.is_none() {
        let text = say!(
            "{} is intact: {}, nothing lost. No file was written.",
            path.display(),
            plural(damage.kept, say!(n: "event"), say!(n: "events"))
        );
        report(args, None, &damage, &text)?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = args.output.clone().unwrap_or_else(|| default_name(path));
    refuse_input(&output, path)?;
    let file = NewFile::create(&output, args.force.existing())?;
    let cannot = || say!("cannot write {}", output.display());
    let mut log = LogWriter::for_copies(file, Compression::for_path(&output))?;
    let damage = read(path, &input, |line| log.copy_line(line))?;
    let file = log.finish().with_context(cannot)?;
    file.commit()?;
    report(args, Some(&output), &damage, &said(path, &output, &damage))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the recording and passes its intact lines to `keep`.
fn read(
    path: &Path,
    input: &File,
    mut keep: impl FnMut(&[u8]) -> Result<(), LogError>,
) -> anyhow::Result<Damage> {
    match repair(BufReader::new(input), |line| keep(line.text)) {
        Ok(damage) => Ok(damage),
        // `look` recognizes other kinds of files.
        Err(e @ LogError::NotALog { .. }) => match look(path) {
            Err(instead) => bail!(say!("cannot repair {}: {instead}", path.display())),
            Ok(()) => bail!(say!("cannot repair {}: {e}", path.display())),
        },
        Err(e) => Err(anyhow!(say!("cannot repair {}: {e}", path.display()))),
    }
}

/// `run.jsonl` and `run.jsonl.zst` become `run.repaired.jsonl.zst`.
fn default_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut stem = &*name;
    for ending in [".zst", ".jsonl"] {
        let end = stem.len().saturating_sub(ending.len());
        let has_it = stem
            .get(end..)
            .is_some_and(|e| e.eq_ignore_ascii_case(ending));
        if has_it && end > 0 {
            stem = &stem[..end];
        }
    }
    path.with_file_name(format!("{stem}.repaired.jsonl.zst"))
}

/// Prints the result, to standard error if the recording itself goes to standard output.
fn report(
    args: &RepairArgs,
    output: Option<&Path>,
    damage: &Damage,
    text: &str,
) -> anyhow::Result<()> {
    let text = match args.json {
        true => object(output, damage).to_string(),
        false => text.to_owned(),
    };
    let is_file = |path: &Path| {
        let is_special = ["/dev", "/proc"]
            .iter()
            .any(|folder| path.starts_with(folder));
        !is_special && fs::metadata(path).is_ok_and(|found| found.is_file())
    };
    if output.is_none_or(is_file) {
        return say(&text);
    }
    complain(text);
    Ok(())
}

/// The result as one JSON object.
fn object(output: Option<&Path>, damage: &Damage) -> Value {
    let seconds = |at: Option<Nanos>| at.map(Nanos::as_secs_f64);
    let gap = |gap: &Gap| {
        json!({
            "lines": gap.lines.map(|(first, last)| [first, last]),
            "bytes": [gap.bytes.start, gap.bytes.end],
            "after_seconds": seconds(gap.after),
            "before_seconds": seconds(gap.before),
        })
    };
    json!({
        "sound": damage.is_none(),
        "output": output.map(|path| path.display().to_string()),
        "kept_events": damage.kept,
        "lost_lines": damage.lost,
        "more_lines_may_be_lost": damage.lost_is_at_least,
        "damaged_bytes": damage.bytes,
        "gaps": damage.gaps.iter().map(gap).collect::<Vec<_>>(),
        "more_gaps": damage.more_gaps,
        "header_replaced": damage.header_replaced,
        "cut": damage.cut,
        "unconfirmed_events": damage.unconfirmed,
        "compressed": damage.packed,
    })
}

/// The result as text.
fn said(path: &Path, output: &Path, damage: &Damage) -> String {
    let mut text = say!("{} is damaged", path.display());
    let mut add = |line: String| _ = write!(text, "\n{line}");
    add(lost(damage));
    if damage.bytes > 0 {
        add(say!(
            "Damaged: {} of {}",
            plural(damage.bytes, say!(n: "byte"), say!(n: "bytes")),
            match damage.packed {
                true => say!("compressed data"),
                false => say!("the file"),
            }
        ));
    }
    damage.gaps.iter().for_each(|gap| add(place(gap)));
    if damage.more_gaps > 0 {
        add(say!(
            "  and {}",
            plural(
                damage.more_gaps,
                say!(n: "more place"),
                say!(n: "more places")
            )
        ));
    }
    if damage.header_replaced {
        add(say!("The header is lost. A new one replaces it.").to_owned());
    }
    if damage.cut {
        add(say!("The recording is truncated. Everything before the cut was read.").to_owned());
    }
    if damage.unconfirmed > 0 {
        add(say!(
            "{} have no valid checksum and may differ from the original",
            plural(damage.unconfirmed, say!(n: "event"), say!(n: "events"))
        ));
    }
    add(say!(
        "Wrote {} to {}",
        plural(damage.kept, say!(n: "event"), say!(n: "events")),
        output.display()
    ));
    text
}

/// `2 lines are lost`
fn lost(damage: &Damage) -> String {
    match (damage.lost, damage.lost_is_at_least) {
        (0, true) => say!("An unknown number of lines is lost").to_owned(),
        (0, false) => say!("No line is lost").to_owned(),
        (1, true) => say!("At least 1 line is lost").to_owned(),
        (1, false) => say!("1 line is lost").to_owned(),
        (more, true) => say!("At least {} lines are lost", count(more)),
        (more, false) => say!("{} lines are lost", count(more)),
    }
}

/// `  lines 4–5 · bytes 129–221 · between 3 ns and 6 ns`
fn place(gap: &Gap) -> String {
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
    fn the_name_says_what_it_is() {
        for (name, wanted) in [
            ("run.jsonl.zst", "run.repaired.jsonl.zst"),
            ("a/run.JSONL", "a/run.repaired.jsonl.zst"),
            ("run.2.zst", "run.2.repaired.jsonl.zst"),
            ("run", "run.repaired.jsonl.zst"),
            (".jsonl", ".jsonl.repaired.jsonl.zst"),
        ] {
            assert_eq!(default_name(Path::new(name)), Path::new(wanted));
        }
    }

    #[test]
    fn what_is_lost_is_printed_in_one_line_a_place() {
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
        let text = said(Path::new("a.jsonl"), Path::new("b.jsonl"), &damage);
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
                "The recording is truncated. Everything before the cut was read.",
                "Wrote 7 events to b.jsonl",
            ]
        );
    }
}
