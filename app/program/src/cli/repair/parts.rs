//! Repair of a recording in parts into a recording in one file.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use loadscope_files::{AtomicFile, Existing, TemporaryFolder, check_not_input, open_regular};
use loadscope_trace::multipart::{self, PartFile};
use loadscope_trace::{Compression, Damage, Event, LogError, LogReader, LogWriter, repair};
use loadscope_words::say;

use super::outcome::Outcome;

/// Prefix of the temporary folder.
const PREFIX: &str = "loadscope-repair-";
/// Names of the recording and its parts in the temporary folder.
const HEAD: &str = "run.jsonl";
const FOLDER: &str = "run.parts";

/// Part of the recording.
struct Part {
    path: PathBuf,
    member: PartFile,
    damage: Damage,
    /// True if no line is intact.
    is_lost: bool,
}

impl Part {
    fn check(folder: &Path, member: PartFile) -> anyhow::Result<Self> {
        let path = folder.join(member.name());
        let input = open_regular(&path)?;
        let (damage, is_lost) = match repair(BufReader::new(&input), |_| Ok(())) {
            Ok(damage) => (damage, false),
            Err(LogError::NotALog { .. }) => {
                let damage = Damage {
                    lost_is_at_least: true,
                    bytes: input.metadata().map_or(0, |found| found.len()),
                    cut: true,
                    packed: true,
                    ..Damage::default()
                };
                (damage, true)
            }
            Err(e) => return Err(repair_error(&path, &e)),
        };
        Ok(Self {
            path,
            member,
            damage,
            is_lost,
        })
    }

    /// Writes the intact lines into a folder.
    fn write_into(&self, folder: &Path) -> anyhow::Result<()> {
        let to = folder.join(self.member.name());
        if self.damage.is_none() {
            return link(&self.path, &to).with_context(|| write_error(&to));
        }
        let file = File::create_new(&to).with_context(|| write_error(&to))?;
        if self.is_lost {
            // The numbers of the parts must have no gap, so a lost part is replaced by an empty one.
            LogWriter::new(file, Compression::Zstd)?.finish()?;
            return Ok(());
        }
        let input = open_regular(&self.path)?;
        let mut log = LogWriter::without_header(file, Compression::Zstd)?;
        repair(BufReader::new(&input), |line| log.copy_line(line.text))
            .map_err(|e| repair_error(&self.path, &e))?;
        log.finish()?;
        Ok(())
    }
}

/// Repairs the recording whose parts are in the folder `name`.
pub(super) fn repaired(
    path: &Path,
    name: &str,
    output: PathBuf,
    existing: Existing,
) -> anyhow::Result<Outcome> {
    let parts = match multipart::folder(path, name) {
        Some(folder) => checked(&folder)?,
        None => Vec::new(),
    };
    if parts.iter().all(|part| part.is_lost) {
        let folder = path.with_file_name(name);
        let why = say!(
            "no part in {} is intact, so nothing can be recovered",
            folder.display()
        );
        bail!(say!("cannot repair {}: {why}", path.display()));
    }
    if parts.iter().all(|part| part.damage.is_none()) {
        let kept = each_event(path, |_| Ok(()))?;
        return Ok(outcome(&parts, kept, None));
    }
    check_not_input(&output, path)?;
    check_not_input(&output, &path.with_file_name(name))?;
    let file = AtomicFile::create(&output, existing)?;
    let place = TemporaryFolder::new(PREFIX).context(say!("cannot create a temporary folder"))?;
    let head = assemble(&parts, place.path())?;
    let compression = Compression::for_path(&output);
    let mut log = LogWriter::new(file, compression)?;
    let kept = each_event(&head, |event| log.write(event))?;
    let file = log.finish().with_context(|| write_error(&output))?;
    file.commit()?;
    Ok(outcome(&parts, kept, Some(output)))
}

/// Checks the parts of a recording, in the order of their names.
fn checked(folder: &Path) -> anyhow::Result<Vec<Part>> {
    let failed = || say!("cannot read {}", folder.display());
    let mut members = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let name = entry.with_context(failed)?.file_name();
        members.extend(name.to_str().and_then(PartFile::parse));
    }
    members.sort_unstable();
    let parts = members.into_iter();
    parts.map(|member| Part::check(folder, member)).collect()
}

/// Creates an intact recording in parts in a temporary folder.
fn assemble(parts: &[Part], place: &Path) -> anyhow::Result<PathBuf> {
    let folder = place.join(FOLDER);
    fs::create_dir(&folder).with_context(|| write_error(&folder))?;
    parts.iter().try_for_each(|part| part.write_into(&folder))?;
    let head = place.join(HEAD);
    let file = File::create_new(&head).with_context(|| write_error(&head))?;
    LogWriter::in_parts(file, Compression::None, FOLDER)?.finish()?;
    Ok(head)
}

/// Passes the events of a recording to `each`. Returns their number.
fn each_event(
    path: &Path,
    mut each: impl FnMut(&Event) -> Result<(), LogError>,
) -> anyhow::Result<u64> {
    let mut count = 0;
    for event in LogReader::open(path)? {
        each(&event?)?;
        count += 1;
    }
    Ok(count)
}

/// Returns the outcome with the total damage of all parts. Its gaps are listed per part.
fn outcome(parts: &[Part], kept: u64, output: Option<PathBuf>) -> Outcome {
    let all = || parts.iter().map(|part| &part.damage);
    let damage = Damage {
        kept,
        lost: all().map(|damage| damage.lost).sum(),
        lost_is_at_least: all().any(|damage| damage.lost_is_at_least),
        bytes: all().map(|damage| damage.bytes).sum(),
        gaps: Vec::new(),
        more_gaps: all().map(|damage| damage.more_gaps).sum(),
        header_replaced: all().any(|damage| damage.header_replaced),
        cut: all().any(|damage| damage.cut),
        unconfirmed: all().map(|damage| damage.unconfirmed).sum(),
        packed: true,
    };
    let by_name = |part: &Part| (part.member.name(), part.damage.clone());
    Outcome {
        damage,
        parts: parts.iter().map(by_name).collect(),
        output,
    }
}

/// Links an intact part. Systems without symbolic links copy it.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(std::path::absolute(from)?, to);
    #[cfg(not(unix))]
    fs::copy(from, to).map(drop)
}

fn repair_error(path: &Path, error: &LogError) -> anyhow::Error {
    anyhow!(say!("cannot repair {}: {error}", path.display()))
}

fn write_error(path: &Path) -> String {
    say!("cannot write {}", path.display())
}
