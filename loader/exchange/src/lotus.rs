//! Logs of LotusTrace: one file per process, with lines `NAME,START,DURATION` in ns of the wall clock. The main process logs its waits and
//! the yielded batches. Each worker logs its batches and the transforms of their samples.
//!
//! A wait of exactly 1,000 ns is a marker: the batch arrived while the main process waited for another one. The lines do not assign
//! transforms to batches, so their times decide.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::input::Sink;
use crate::input::open;
use crate::{ImportError, Kind, Outcome};
use loadscope_words::say;

mod emit;
mod join;
mod line;
mod process;

use line::Line;
use process::Process;

/// Maximum number of batches and transform calls in memory.
const MOST: usize = 32 << 20;
/// Maximum length of a line, bytes. Real lines are shorter, because class names are short.
const LONGEST_LINE: usize = 4096;
/// Maximum number of logs in a folder, and of files that are checked before the first log is found.
const MOST_FILES: usize = 1 << 16;
/// Maximum number of folder entries that are read.
const MOST_ENTRIES: usize = 1 << 20;

/// Returns true if `text` is a line of a LotusTrace log.
pub(crate) fn is_line(text: &[u8]) -> bool {
    Line::parse(text.trim_ascii()).is_ok()
}

/// Returns the process ID in the name of a file, after the last `_`.
fn pid(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    name.rsplit_once('_')?.1.parse().ok()
}

/// Returns at most `most` logs in a folder. Their names contain a process ID, and their first lines are valid.
fn logs(folder: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    let mut logs = Vec::new();
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder)?.take(MOST_ENTRIES) {
        let path = entry?.path();
        if pid(&path).is_none() {
            continue;
        }
        // The search must end in a folder full of other files.
        looked_at += 1;
        if logs.len() == most || (logs.is_empty() && looked_at > MOST_FILES) {
            break;
        }
        if path.is_file() && looks_like_log(&path) {
            logs.push(path);
        }
    }
    logs.sort();
    Ok(logs)
}

fn looks_like_log(path: &Path) -> bool {
    let Ok(file) = open(path) else {
        return false;
    };
    let mut head = Vec::new();
    let _ = file.take(LONGEST_LINE as u64).read_to_end(&mut head);
    is_line(head.split(|b| *b == b'\n').next().unwrap_or_default())
}

/// Returns true if a folder contains a log.
pub(crate) fn is_folder(folder: &Path) -> io::Result<bool> {
    Ok(!logs(folder, 1)?.is_empty())
}

/// Returns the total size of the logs in a folder, bytes.
pub(crate) fn size(folder: &Path) -> u64 {
    let logs = logs(folder, MOST_FILES).unwrap_or_default();
    let sizes = logs.iter().filter_map(|l| std::fs::metadata(l).ok());
    sizes.map(|m| m.len()).sum()
}

/// Reads a folder, or the logs of the same run next to a log.
pub(crate) fn read(path: &Path, sink: &mut Sink<'_>) -> Result<Outcome, ImportError> {
    let is_folder = path.is_dir();
    let folder = match is_folder {
        true => path,
        false => path
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
    };
    let mut paths = logs(folder, MOST_FILES + 1).map_err(|e| ImportError::unreadable(folder, e))?;
    if paths.len() > MOST_FILES {
        return Err(ImportError::TooMuch {
            kind: Kind::Lotus,
            most: MOST_FILES,
            what: say!("files next to it"),
            remedy: say!("Put the files of one run into a folder of their own"),
        });
    }
    if !is_folder {
        // File names of a run are equal up to `_main_pid_1` or `_worker_pid_2`.
        let of_run = |p: &Path| run_of(p).map(str::to_owned);
        let run = of_run(path);
        paths.retain(|p| run.is_some() && of_run(p) == run);
        if paths.is_empty() {
            paths.push(path.to_owned());
        }
    }
    let mut reader = Reader::default();
    let mut processes = Vec::new();
    for path in &paths {
        match reader.file(path, sink)? {
            Some(process) => processes.push(process),
            None => return Ok(Outcome::default()),
        }
    }
    let mut joined = join::join(processes)?;
    joined.names = reader.names;
    joined.stray += reader.unnamed;
    emit::emit(&joined, sink);
    Ok(Outcome {
        cut: reader.cut,
        late: 0,
    })
}

fn run_of(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let cut = name.rfind("_main_pid_").or(name.rfind("_worker_pid_"))?;
    Some(&name[..cut])
}

#[derive(Default)]
struct Reader {
    /// True if a file ends in the middle of a line.
    cut: bool,
    consumed: u64,
    reported: u64,
    kept: usize,
    /// Names of transforms.
    names: Vec<String>,
    by_name: HashMap<String, u16>,
    /// Number of calls of transforms that are skipped, because there are too many names.
    unnamed: u64,
}

impl Reader {
    /// Reads a file. Returns `None` if reading was stopped.
    fn file(&mut self, path: &Path, sink: &mut Sink<'_>) -> Result<Option<Process>, ImportError> {
        let file = open(path)?;
        let mut input = BufReader::with_capacity(1 << 17, file);
        let mut process = Process {
            pid: pid(path).unwrap_or(0),
            ..Process::default()
        };
        let mut text = Vec::new();
        let mut number = 0u64;
        loop {
            text.clear();
            let limit = LONGEST_LINE as u64 + 1;
            let read = (&mut input).take(limit).read_until(b'\n', &mut text);
            let read = read.map_err(|e| ImportError::unreadable(path, e))?;
            if read == 0 {
                break;
            }
            number += 1;
            self.consumed += read as u64;
            let line = match text.trim_ascii() {
                b"" => continue,
                _ if read > LONGEST_LINE => Err(say!("it is longer than 4 KiB").to_owned()),
                line => Line::parse(line),
            };
            match line {
                Ok(line) => self.add_line(&mut process, line)?,
                // The program was writing this line when it stopped.
                Err(_) if !text.ends_with(b"\n") && read <= LONGEST_LINE => self.cut = true,
                Err(why) => {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    return Err(ImportError::Damaged {
                        kind: Kind::Lotus,
                        place: say!("in line {number} of {name}"),
                        why,
                    });
                }
            }
            if self.consumed - self.reported > 4 << 20 {
                self.reported = self.consumed;
                if !sink.report_progress(self.consumed) {
                    return Ok(None);
                }
            }
        }
        process.complete();
        Ok(Some(process))
    }

    fn add_line(&mut self, process: &mut Process, line: Line) -> Result<(), ImportError> {
        self.kept += 1;
        if self.kept > MOST {
            return Err(ImportError::TooMuch {
                kind: Kind::Lotus,
                most: MOST,
                what: "lines",
                remedy: say!("Log fewer epochs"),
            });
        }
        match line {
            Line::Wait { .. } | Line::Consumed { .. } | Line::Dispatched { .. } => {
                process.main.push(line);
            }
            Line::Batch { idx, start, end } => process.worker.batch(idx, start, end),
            Line::Collate { start, end } => process.worker.collate(start, end),
            Line::Transform { name, start, end } => match self.name(&name) {
                Some(name) => process.worker.transform(name, start, end),
                None => self.unnamed += 1,
            },
        }
        Ok(())
    }

    /// Returns the index of a name. Returns `None` if the list is full.
    fn name(&mut self, name: &str) -> Option<u16> {
        if let Some(known) = self.by_name.get(name) {
            return Some(*known);
        }
        let new = u16::try_from(self.names.len()).ok()?;
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), new);
        Some(new)
    }
}
