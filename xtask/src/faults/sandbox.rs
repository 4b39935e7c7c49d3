//! The state that all cases share, the folders of a case, and checks of their contents.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::fake_program::notes;
use super::rule::{Act, Call, On, Rule, When};

/// Environment variable that identifies the processes of a case, even those that left its session.
pub const MARK: &str = "LOADSCOPE_FAULTS_CASE";

/// Name and content of a file.
pub type Output = (String, Vec<u8>);

/// State that all cases share.
pub struct SharedState {
    pub loadscope: PathBuf,
    /// Executable of xtask, which is also the fake program `speak`.
    pub xtask: PathBuf,
    /// Python with PyTorch, if installed.
    pub pytorch: Option<PathBuf>,
    /// Intact recording, compressed.
    pub recording: PathBuf,
    pub plain_recording: PathBuf,
    /// Outputs of commands without a fault, by the name of the command.
    pub references: Mutex<HashMap<String, Vec<Output>>>,
    /// True if system calls can be intercepted.
    pub supervises: bool,
    pub is_root: bool,
    pub kills: u32,
    /// Maximum duration of missing data after a kill: the promised one, or a longer one in CI, which may run on a loaded host.
    pub most_missing: Duration,
    pub seed: u64,
    /// Keeps the folder of the recordings until the end.
    pub _folder: TempDir,
}

/// Error for a case that is skipped, because this system lacks something. Contains the reason.
#[derive(Debug)]
pub struct Skipped(pub String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skipped {}

/// Measured values of a case.
pub type Note = RefCell<String>;

/// Folders and processes of a case.
pub struct Sandbox<'a> {
    pub shared: &'a SharedState,
    root: TempDir,
    /// Value of [`MARK`].
    pub mark: String,
    /// Measured values.
    pub note: Note,
}

impl<'a> Sandbox<'a> {
    pub fn new(shared: &'a SharedState) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // The name is short, because the path of a socket is limited to 107 bytes.
        let root = tempfile::Builder::new().prefix("lf-").tempdir()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let sandbox = Self {
            shared,
            root,
            mark: format!("{}-{number}", std::process::id()),
            note: Note::default(),
        };
        for folder in [
            sandbox.work(),
            sandbox.tmp(),
            sandbox.home(),
            sandbox.output_folder(),
        ] {
            fs::create_dir_all(folder)?;
        }
        for folder in ["data", "config", "cache", "run"] {
            let folder = sandbox.home().join(folder);
            fs::create_dir_all(&folder)?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        Ok(sandbox)
    }

    /// Returns the working folder of commands, which also contains their outputs.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// Returns the path of a file in the working folder.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.work().join(name)
    }

    /// Returns the value of `TMPDIR`.
    pub fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// Returns the home folder, with `data`, `config`, `cache` and `run` for the XDG variables.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Returns the folder with the output of commands.
    pub fn output_folder(&self) -> PathBuf {
        self.root.path().join("said")
    }

    /// Returns the file in which the recorded program notes the sent batches.
    pub fn notes(&self) -> PathBuf {
        self.root.path().join("notes")
    }

    /// Returns the number of batches that the recorded program has sent.
    pub fn sent(&self) -> u64 {
        notes(&self.notes()).len() as u64
    }

    /// Returns a rule for the files in the working folder.
    pub fn rule(&self, call: Call, when: When, act: Act) -> Rule {
        Rule::new(call, On::Within(self.work()), when, act)
    }

    /// Stores measured values.
    pub fn note(&self, text: String) {
        self.note.replace(text);
    }

    /// Skips the case if this system does not support seccomp notifications.
    pub fn supervises(&self) -> Result<()> {
        match self.shared.supervises {
            true => Ok(()),
            false => Err(Skipped("calls of a program cannot be answered here".to_owned()).into()),
        }
    }

    /// Copies a compressed recording into the working folder.
    pub fn recording(&self) -> Result<PathBuf> {
        self.copy(&self.shared.recording)
    }

    /// Copies the same recording as text into the working folder.
    pub fn plain_recording(&self) -> Result<PathBuf> {
        self.copy(&self.shared.plain_recording)
    }

    /// Writes `damaged.jsonl`: the same recording with an incomplete line in the middle.
    pub fn damaged_recording(&self) -> Result<PathBuf> {
        let text = fs::read_to_string(&self.shared.plain_recording)?;
        let middle = text.lines().count() / 2;
        let lines = text.lines().enumerate();
        let damaged = lines.map(|(k, line)| if k == middle { "{\"t\":" } else { line });
        let path = self.at("damaged.jsonl");
        fs::write(&path, damaged.collect::<Vec<_>>().join("\n") + "\n")?;
        Ok(path)
    }

    /// Creates the input files that a command line names.
    pub fn inputs(&self, line: &str) -> Result<()> {
        if line.contains("sample.jsonl.zst") {
            self.recording()?;
        }
        if line.contains("damaged.jsonl") {
            self.damaged_recording()?;
        }
        Ok(())
    }

    fn copy(&self, from: &Path) -> Result<PathBuf> {
        let to = self.at(from.file_name().unwrap_or_default());
        fs::copy(from, &to).with_context(|| from.display().to_string())?;
        Ok(to)
    }

    /// Writes a file that the user wants to keep.
    pub fn old(&self, name: &str) -> Result<(PathBuf, Vec<u8>)> {
        let (path, bytes) = (self.at(name), OLD.to_vec());
        fs::write(&path, &bytes)?;
        Ok((path, bytes))
    }

    /// Returns the files that commands must not leave after the next one has started: all temporary files, and `.part` files elsewhere.
    pub fn leftovers(&self) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.tmp())? {
            found.push(entry?.path());
        }
        let mut folders = vec![self.work(), self.home()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else if entry.path().extension() == Some(OsStr::new("part")) {
                    found.push(entry.path());
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// Returns the names of files in the working folder.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.work())? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Returns the running processes of this case.
    pub fn alive(&self) -> Vec<i32> {
        let wanted = format!("{MARK}={}", self.mark);
        let is_of_this = |process: &i32| {
            let text = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let mut variables = text.split(|b| *b == 0);
            variables.any(|one| one == wanted.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
        numbers.filter(is_of_this).collect()
    }

    /// Kills all processes of this case.
    pub fn end_all(&self) {
        for _ in 0..50 {
            let alive = self.alive();
            if alive.is_empty() {
                return;
            }
            for process in alive {
                // SAFETY: kill accesses no memory of this process.
                unsafe { libc::kill(process, libc::SIGKILL) };
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Sandbox<'_> {
    fn drop(&mut self) {
        self.end_all();
        // Read-only folders become writable, so that they can be removed.
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let inner = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|e| e.path()));
        }
    }
}

/// Content of a file that the user wants to keep.
const OLD: &[u8] = b"an old file that the user wants to keep\n";
