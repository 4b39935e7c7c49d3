//! Detects Python processes of the program that use PyTorch without the probe, and the reason.
//!
//! A wrapper that replaces `PYTHONPATH`, or starts Python with an empty environment, disables the probe.
//! The warning appears about a second after such a process has imported PyTorch, in time to react.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::variable;
use loadscope_words::say;

/// Interval of scans.
const EVERY: Duration = Duration::from_millis(500);

/// Maximum number of scans per process. A new process may import PyTorch later.
const MAX_SCANS: u32 = 240;

/// Maximum number of reported processes.
const MAX_REPORTED: usize = 8;

/// Reason why a process is not recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnrecordedReason {
    /// The environment was cleared.
    Environment,
    /// `PYTHONPATH` was replaced.
    Path,
    /// Python was started with this flag, which makes it ignore its environment.
    Flag(char),
}

impl UnrecordedReason {
    /// Returns cause and remedy, as the end of the warning.
    pub fn text(self) -> String {
        match self {
            Self::Environment => {
                say!("its environment was cleared (by env -i, sudo, a container or ssh). Pass PYTHONPATH and LOADSCOPE_PROBE_* on, run `loadscope install` once for this Python, or add `import loadscope_probe` to the top of the program (see `loadscope probe`).")
                    .to_owned()
            }
            Self::Path => {
                say!("a wrapper replaced PYTHONPATH. Extend it instead (PYTHONPATH=.:$PYTHONPATH), or run `loadscope install` once for this Python.")
                    .to_owned()
            }
            Self::Flag(flag) => say!(
                "Python was started with -{flag}, which disables the probe. Remove the flag, or add `import loadscope_probe` to the top of the program (see `loadscope probe`)."
            ),
        }
    }
}

/// A process that uses PyTorch without the probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unrecorded {
    /// Process id.
    pub pid: u64,
    /// Shortened command.
    pub command: String,
    /// Reason why the process has no probe.
    pub reason: UnrecordedReason,
}

impl Unrecorded {
    /// Returns the warning: `Process 123 (python -m pkg.train) uses PyTorch and is not recorded: …`
    pub fn sentence(&self) -> String {
        say!(
            "Process {} ({}) uses PyTorch and is not recorded: {}",
            self.pid,
            self.command,
            self.reason.text()
        )
    }
}

/// Scanner for processes without the probe.
pub struct UnrecordedScanner {
    /// Process id of the started program.
    root: u64,
    /// Folder with the probe.
    folder: PathBuf,
    last_scan: Option<Instant>,
    /// Number of scans per process. Finished processes have a large number.
    scans: HashMap<u64, u32>,
    found: Vec<Unrecorded>,
}

impl UnrecordedScanner {
    /// Creates a search in the program with the id `root`, whose probe is in `folder`.
    pub fn new(root: u32, folder: &Path) -> Self {
        Self {
            root: u64::from(root),
            folder: folder.to_owned(),
            last_scan: None,
            scans: HashMap::new(),
            found: Vec::new(),
        }
    }

    /// Returns the processes found so far.
    pub fn found(&self) -> &[Unrecorded] {
        &self.found
    }

    /// Scans if it is time. `reached` contains the processes with the probe. Returns the new processes to report.
    pub fn scan(&mut self, reached: &BTreeSet<u64>) -> Vec<Unrecorded> {
        let now = Instant::now();
        if self.last_scan.is_some_and(|before| now - before < EVERY) {
            return Vec::new();
        }
        self.last_scan = Some(now);
        let parents = proc::parents();
        let family = family(self.root, &parents);
        self.scans.retain(|pid, _| family.contains(pid));
        let mut new = Vec::new();
        for pid in family {
            let scans = self.scans.entry(pid).or_default();
            *scans += 1;
            // The process is inspected in the first 20 scans, then in every tenth.
            if *scans > MAX_SCANS || (*scans > 20 && !scans.is_multiple_of(10)) {
                continue;
            }
            if reached.contains(&pid) {
                *scans = u32::MAX / 2;
                continue;
            }
            let Some(unrecorded) = proc::inspect_process(pid, &self.folder) else {
                continue;
            };
            *scans = u32::MAX / 2;
            // A forked child has the probe of its parent.
            let parent = parents.get(&pid);
            if parent
                .is_some_and(|parent| reached.contains(parent) && proc::are_alike(pid, *parent))
            {
                continue;
            }
            let is_known = self.found.iter().any(|f| parent == Some(&f.pid));
            if !is_known && self.found.len() < MAX_REPORTED {
                self.found.push(unrecorded.clone());
                new.push(unrecorded);
            }
        }
        new
    }
}

/// Returns a process and all its descendants.
pub(crate) fn family(root: u64, parents: &BTreeMap<u64, u64>) -> BTreeSet<u64> {
    let mut children: HashMap<u64, Vec<u64>> = HashMap::new();
    for (pid, parent) in parents {
        children.entry(*parent).or_default().push(*pid);
    }
    let (mut all, mut open) = (BTreeSet::new(), vec![root]);
    while let Some(pid) = open.pop() {
        if all.insert(pid) {
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    all
}

/// Returns the reason why a Python with these arguments and environment has no probe. Returns `None` if it has one.
fn missing_probe_reason(
    arguments: &[&str],
    environment: &[u8],
    folder: &Path,
) -> Option<UnrecordedReason> {
    let flags = arguments.iter().skip(1).take_while(|a| {
        // Arguments after -c, -m or the script belong to the program.
        a.starts_with('-') && !a.starts_with("-c") && !a.starts_with("-m") && a.len() > 1
    });
    let ignoring = ['I', 'E', 'S'];
    let flag = flags
        .filter(|a| !a.starts_with("--"))
        .flat_map(|a| a.chars().skip(1))
        .find(|c| ignoring.contains(c));
    if let Some(flag) = flag {
        return Some(UnrecordedReason::Flag(flag));
    }
    let variables: HashSet<&[u8]> = environment.split(|b| *b == 0).collect();
    let value = |name: &str| {
        let start = format!("{name}=");
        let found = variables.iter().find(|v| v.starts_with(start.as_bytes()));
        found.map(|v| &v[start.len()..])
    };
    if value(variable::TO).is_none() {
        return Some(UnrecordedReason::Environment);
    }
    let folder = folder.as_os_str().as_encoded_bytes();
    let has_folder =
        value("PYTHONPATH").is_some_and(|path| path.split(|b| *b == b':').any(|one| one == folder));
    (!has_folder).then_some(UnrecordedReason::Path)
}

/// Returns the shortened command: `python -m pkg.train`.
fn shortened(arguments: &[&str]) -> String {
    const MOST: usize = 60;
    let mut words = arguments.iter();
    let first = words
        .next()
        .map_or("", |w| w.rsplit('/').next().unwrap_or(w));
    let mut text = first.to_owned();
    for word in words {
        if text.len() + word.len() + 1 > MOST {
            text.push_str(" …");
            break;
        }
        text.push(' ');
        text.push_str(word);
    }
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(target_os = "linux")]
pub(crate) mod proc {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use super::Unrecorded;

    /// Returns the parent of each process.
    pub fn parents() -> BTreeMap<u64, u64> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<u64>().ok());
        let parent = |pid: u64| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The process name in parentheses can contain any character.
            let rest = stat.rsplit_once(')')?.1;
            rest.split_ascii_whitespace().nth(1)?.parse().ok()
        };
        pids.filter_map(|pid| Some((pid, parent(pid)?))).collect()
    }

    /// Returns true if both have the same command, so one was forked from the other.
    pub fn are_alike(pid: u64, other: u64) -> bool {
        let command = |pid| fs::read(format!("/proc/{pid}/cmdline")).ok();
        command(pid).is_some_and(|own| command(other) == Some(own))
    }

    /// Returns the process if it is a Python with PyTorch and without the probe.
    pub fn inspect_process(pid: u64, folder: &Path) -> Option<Unrecorded> {
        let exe = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let name = exe.file_name()?.to_str()?;
        if !name.starts_with("python") && !name.starts_with("pypy") {
            return None;
        }
        let read = |what: &str| fs::read(format!("/proc/{pid}/{what}")).ok();
        let command = read("cmdline")?;
        let command = String::from_utf8_lossy(&command);
        let arguments: Vec<&str> = command.split('\0').filter(|a| !a.is_empty()).collect();
        let reason = super::missing_probe_reason(&arguments, &read("environ")?, folder)?;
        let maps = read("maps")?;
        let has_torch = maps.windows(8).any(|w| w == b"libtorch");
        has_torch.then(|| Unrecorded {
            pid,
            command: super::shortened(&arguments),
            reason,
        })
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) mod proc {
    use std::collections::BTreeMap;
    use std::path::Path;

    use super::Unrecorded;

    pub fn parents() -> BTreeMap<u64, u64> {
        BTreeMap::new()
    }

    pub fn are_alike(_: u64, _: u64) -> bool {
        false
    }

    pub fn inspect_process(_: u64, _: &Path) -> Option<Unrecorded> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(arguments: &[&str], environment: &str) -> Option<UnrecordedReason> {
        let environment = environment.replace('\n', "\0");
        missing_probe_reason(arguments, environment.as_bytes(), Path::new("/tmp/probe"))
    }

    const SOUND: &str = "LOADSCOPE_PROBE_TO=unix:/tmp/probe/socket\nPYTHONPATH=/tmp/probe:/home/me";

    #[test]
    fn a_python_with_the_probe_has_no_warning() {
        assert_eq!(reason(&["python", "train.py", "-I"], SOUND), None);
        assert_eq!(
            reason(&["python", "-u", "-m", "pkg.train", "-E"], SOUND),
            None
        );
        assert_eq!(reason(&["python", "-c", "import torch", "-S"], SOUND), None);
    }

    #[test]
    fn a_python_without_the_probe_has_a_reason() {
        let replaced = "LOADSCOPE_PROBE_TO=unix:/tmp/probe/socket\nPYTHONPATH=.";
        assert_eq!(
            reason(&["python", "train.py"], replaced),
            Some(UnrecordedReason::Path)
        );
        let without = "LOADSCOPE_PROBE_TO=unix:/tmp/probe/socket";
        assert_eq!(
            reason(&["python", "train.py"], without),
            Some(UnrecordedReason::Path)
        );
        assert_eq!(
            reason(&["python", "train.py"], ""),
            Some(UnrecordedReason::Environment)
        );
        assert_eq!(
            reason(&["python", "-uI", "train.py"], SOUND),
            Some(UnrecordedReason::Flag('I'))
        );
    }

    #[test]
    fn descendants_are_found_through_shells() {
        let parents = BTreeMap::from([(10, 1), (11, 10), (12, 11), (13, 1), (14, 12)]);
        assert_eq!(family(10, &parents), BTreeSet::from([10, 11, 12, 14]));
    }

    #[test]
    fn commands_are_shortened_without_control_characters() {
        let text = shortened(&[
            "/usr/bin/python3",
            "-m",
            "pkg.train",
            "--name",
            "a\u{1b}[2J",
        ]);
        assert_eq!(text, "python3 -m pkg.train --name a\u{fffd}[2J");
        let long = "x".repeat(100);
        assert_eq!(shortened(&["python", &long]), "python …");
    }
}
