//! Reasons why a running process can never be recorded.
//!
//! A Python that waits for `attach` has mapped the file `_dormant.py`. Any other Python with PyTorch never checks for a request.

use std::path::{Path, PathBuf};

use loadscope_words::say;

use crate::unrecorded::{family, proc};
use crate::variable;

/// The file that a waiting Python has mapped.
const MARK: &str = "/loadscope/_dormant.py";

/// The file that Python reads at its start after `python -m loadscope install`.
const INSTALLED: &str = "loadscope.pth";

/// Reason why a process and its descendants can never be recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnattachableReason {
    /// Neither the process nor a descendant is a Python.
    NoPython,
    /// The Python of the process has no `loadscope.pth`.
    NotInstalled,
    /// The process started before `python -m loadscope install`.
    StartedBefore,
    /// The process was started by `loadscope record`.
    Recorded,
}

impl UnattachableReason {
    /// Returns the reason why the process `pid` cannot be recorded. Returns `None` if it can, or if this is unknown.
    pub fn of(pid: u32) -> Option<Self> {
        let mut unattachable = Self::NoPython;
        for pid in family(u64::from(pid), &proc::parents()) {
            match ProcessProperties::of(pid)?.check() {
                Some(Ok(())) => return None,
                Some(Err(why)) => unattachable = unattachable.max(why),
                None => {}
            }
        }
        Some(unattachable)
    }

    /// Returns the reason with a remedy.
    pub fn text(self, pid: u32) -> String {
        match self {
            Self::NoPython => say!(
                "process {pid} is not Python and has no Python child process. Attach to the Python process of the training."
            ),
            Self::NotInstalled => say!(
                "the Python of process {pid} has no loadscope.pth. Run `python -m loadscope install` with it, then restart the program."
            ),
            Self::StartedBefore => say!(
                "process {pid} started before `python -m loadscope install`. Restart the program."
            ),
            Self::Recorded => say!(
                "process {pid} was started by `loadscope record` or `loadscope watch`, which record it"
            ),
        }
    }
}

/// Properties of a process, read from `/proc`.
struct ProcessProperties {
    is_python: bool,
    waits: bool,
    is_recorded: bool,
    /// The folder of packages that contains PyTorch.
    packages: Option<PathBuf>,
}

impl ProcessProperties {
    /// Reads a process. Returns `None` if `/proc` does not provide the information.
    fn of(pid: u64) -> Option<Self> {
        let read = |what: &str| std::fs::read(format!("/proc/{pid}/{what}")).ok();
        let maps = String::from_utf8_lossy(&read("maps")?).into_owned();
        let environment = read("environ").unwrap_or_default();
        let executable = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        Some(Self::from_proc(executable.as_deref(), &maps, &environment))
    }

    fn from_proc(executable: Option<&Path>, maps: &str, environment: &[u8]) -> Self {
        let name = executable
            .and_then(Path::file_name)
            .and_then(|n| n.to_str());
        let is_named = name.is_some_and(|n| n.starts_with("python") || n.starts_with("pypy"));
        let files = || {
            maps.lines()
                .filter_map(|line| Some(&line[line.find('/')?..]))
        };
        let torch = files().find_map(|file| file.split_once("/torch/lib/libtorch"));
        let to = format!("{}=", variable::TO);
        let mut variables = environment.split(|b| *b == 0);
        Self {
            is_python: is_named || files().any(|file| file.contains("/libpython")),
            waits: files().any(|file| file.trim_end_matches(" (deleted)").ends_with(MARK)),
            is_recorded: variables.any(|v| v.starts_with(to.as_bytes())),
            packages: torch.map(|(packages, _)| PathBuf::from(packages)),
        }
    }

    /// Returns `Ok` if the process will answer. Returns `None` if it is not Python.
    fn check(&self) -> Option<Result<(), UnattachableReason>> {
        let unattachable = match &self.packages {
            _ if !self.is_python => return None,
            _ if self.is_recorded => UnattachableReason::Recorded,
            // A prepared Python can still import PyTorch.
            None => return Some(Ok(())),
            Some(_) if self.waits => return Some(Ok(())),
            Some(packages) => match packages.join(INSTALLED).exists() {
                true => UnattachableReason::StartedBefore,
                false => UnattachableReason::NotInstalled,
            },
        };
        Some(Err(unattachable))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    const TORCH: &str =
        "7f00-7f01 r-xp 0 08:01 7 /nowhere/site-packages/torch/lib/libtorch_cpu.so\n";
    const WAITS: &str = "7f02-7f03 r--s 0 08:01 8 /nowhere/site-packages/loadscope/_dormant.py\n";

    fn check(
        executable: &str,
        maps: &str,
        environment: &str,
    ) -> Option<Result<(), UnattachableReason>> {
        let environment = environment.replace('\n', "\0");
        ProcessProperties::from_proc(Some(Path::new(executable)), maps, environment.as_bytes())
            .check()
    }

    #[test]
    fn a_python_answers_if_it_waits_or_may_still_import_pytorch() {
        let python = "/usr/bin/python3.11";
        assert_eq!(check(python, "", ""), Some(Ok(())));
        assert_eq!(
            check(python, &format!("{TORCH}{WAITS}"), "HOME=/"),
            Some(Ok(()))
        );
        let gone = WAITS.replace(".py", ".py (deleted)");
        assert_eq!(check(python, &format!("{gone}{TORCH}"), ""), Some(Ok(())));
        let embedded = format!("1-2 r-xp 0 08:01 7 /usr/lib/libpython3.11.so.1.0\n{TORCH}{WAITS}");
        assert_eq!(check("/usr/bin/uwsgi", &embedded, ""), Some(Ok(())));
    }

    #[test]
    fn processes_that_never_answer_have_a_reason() {
        let python = "/usr/bin/python3.11";
        assert_eq!(check("/usr/bin/bash", "", ""), None);
        assert_eq!(
            check(python, TORCH, ""),
            Some(Err(UnattachableReason::NotInstalled))
        );
        let recorded = format!("HOME=/\n{}=unix:/x", variable::TO);
        let maps = format!("{TORCH}{WAITS}");
        assert_eq!(
            check(python, &maps, &recorded),
            Some(Err(UnattachableReason::Recorded))
        );
        let folder = tempfile::tempdir().expect("a folder");
        let packages = folder.path().display();
        let maps = format!("1-2 r-xp 0 08:01 7 {packages}/torch/lib/libtorch.so\n");
        assert_eq!(
            check(python, &maps, ""),
            Some(Err(UnattachableReason::NotInstalled))
        );
        std::fs::File::create(folder.path().join(INSTALLED)).expect("it is written");
        assert_eq!(
            check(python, &maps, ""),
            Some(Err(UnattachableReason::StartedBefore))
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_without_python_can_never_answer() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .expect("sleep");
        assert_eq!(
            UnattachableReason::of(child.id()),
            Some(UnattachableReason::NoPython)
        );
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}
