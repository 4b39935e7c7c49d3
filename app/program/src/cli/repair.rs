//! `loadscope repair`: recovers the intact lines of a damaged recording.

use std::fs::File;
use std::io::{BufReader, Seek as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use loadscope_files::{AtomicFile, Existing, check_not_input, is_being_written, open_regular};
use loadscope_trace::{Compression, Damage, LogError, LogReader, LogWriter, repair};
use loadscope_words::say;

mod outcome;
mod parts;

use outcome::{Outcome, report};

use super::output::ForceArg;
use loadscope_session::check_path;

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
    let output = args.output.clone().unwrap_or_else(|| default_name(path));
    let reader = LogReader::new(input.try_clone()?);
    let folder = reader.ok().and_then(|r| r.parts().map(str::to_owned));
    let outcome = match folder {
        Some(folder) => parts::repaired(path, &folder, output, args.force.existing())?,
        None => repaired(path, &input, output, args.force.existing())?,
    };
    report(path, args.json, &outcome)?;
    Ok(ExitCode::SUCCESS)
}

/// Repairs a recording with a single file.
fn repaired(
    path: &Path,
    mut input: &File,
    output: PathBuf,
    existing: Existing,
) -> anyhow::Result<Outcome> {
    input.rewind()?;
    // The first pass only checks the recording. An intact one is not written again.
    let damage = read(path, input, |_| Ok(()))?;
    let outcome = |damage, output| Outcome {
        damage,
        parts: Vec::new(),
        output,
    };
    if damage.is_none() {
        return Ok(outcome(damage, None));
    }
    check_not_input(&output, path)?;
    let file = AtomicFile::create(&output, existing)?;
    let cannot = || say!("cannot write {}", output.display());
    let mut log = LogWriter::without_header(file, Compression::for_path(&output))?;
    let damage = read(path, input, |line| log.copy_line(line))?;
    let file = log.finish().with_context(cannot)?;
    file.commit()?;
    Ok(outcome(damage, Some(output)))
}

/// Reads the recording and passes its intact lines to `keep`.
fn read(
    path: &Path,
    input: &File,
    mut keep: impl FnMut(&[u8]) -> Result<(), LogError>,
) -> anyhow::Result<Damage> {
    match repair(BufReader::new(input), |line| keep(line.text)) {
        Ok(damage) => Ok(damage),
        // `check_path` recognizes other kinds of files.
        Err(e @ LogError::NotALog { .. }) => match check_path(path) {
            Err(instead) => match instead.other_kind() {
                Some(kind) => bail!(say!(
                    "cannot repair {}: this file {kind}. `repair` takes recordings: .jsonl or .jsonl.zst.",
                    path.display()
                )),
                None => bail!(say!("cannot repair {}: {instead}", path.display())),
            },
            Ok(()) => bail!(say!("cannot repair {}: {e}", path.display())),
        },
        Err(e) => Err(anyhow!(say!("cannot repair {}: {e}", path.display()))),
    }
}

/// Returns `run.repaired.jsonl.zst` for `run.jsonl` and `run.jsonl.zst`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_output_name_contains_repaired() {
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
}
