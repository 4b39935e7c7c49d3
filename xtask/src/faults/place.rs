//! A folder of its own for every case, and what is looked at in it afterwards.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use super::note::{NotTried, Note};
use super::world::World;

/// The variable by which the processes of a case are found, wherever they went.
pub const MARK: &str = "LOADSCOPE_FAULTS_CASE";

/// Where a case happens.
pub struct Place<'a> {
    pub world: &'a World,
    root: TempDir,
    /// The value of [`MARK`].
    pub mark: String,
    /// What was measured.
    pub note: Note,
}

impl<'a> Place<'a> {
    pub fn new(world: &'a World) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // Short: a socket's path has room for 107 bytes.
        let root = tempfile::Builder::new().prefix("lf-").tempdir()?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let place = Self {
            world,
            root,
            mark: format!("{}-{number}", std::process::id()),
            note: Note::default(),
        };
        for folder in [place.work(), place.tmp(), place.home(), place.said()] {
            fs::create_dir_all(folder)?;
        }
        for folder in ["data", "config", "cache", "run"] {
            let folder = place.home().join(folder);
            fs::create_dir_all(&folder)?;
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        Ok(place)
    }

    /// Where commands are run, and write to.
    pub fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    /// A file in that folder.
    pub fn at(&self, name: impl AsRef<Path>) -> PathBuf {
        self.work().join(name)
    }

    /// `TMPDIR`.
    pub fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// The user's own folder, with `data`, `config`, `cache` and `run` for the variables of XDG.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// What commands print.
    pub fn said(&self) -> PathBuf {
        self.root.path().join("said")
    }

    /// Where the recorded program notes what it told.
    pub fn notes(&self) -> PathBuf {
        self.root.path().join("notes")
    }

    /// Notes what was measured.
    pub fn note(&self, text: String) {
        self.note.replace(text);
    }

    /// Ends the case as not tried if a program's calls cannot be answered here.
    pub fn supervises(&self) -> Result<()> {
        match self.world.supervises {
            true => Ok(()),
            false => Err(NotTried("calls of a program cannot be answered here".to_owned()).into()),
        }
    }

    /// A recording with two loaders' worth of events, compressed.
    pub fn recording(&self) -> Result<PathBuf> {
        self.copy(&self.world.recording)
    }

    /// The same, as text.
    pub fn plain_recording(&self) -> Result<PathBuf> {
        self.copy(&self.world.plain_recording)
    }

    /// `damaged.jsonl`: the same with a line in the middle that is none.
    pub fn damaged_recording(&self) -> Result<PathBuf> {
        let text = fs::read_to_string(&self.world.plain_recording)?;
        let middle = text.lines().count() / 2;
        let lines = text.lines().enumerate();
        let damaged = lines.map(|(k, line)| if k == middle { "{\"t\":" } else { line });
        let path = self.at("damaged.jsonl");
        fs::write(&path, damaged.collect::<Vec<_>>().join("\n") + "\n")?;
        Ok(path)
    }

    /// The inputs that a command names.
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

    /// A file that the user wants to keep.
    pub fn old(&self, name: &str) -> Result<(PathBuf, Vec<u8>)> {
        let (path, bytes) = (self.at(name), OLD.to_vec());
        fs::write(&path, &bytes)?;
        Ok((path, bytes))
    }

    /// Files that no finished or killed command may leave once the next one has begun: in the folder for temporary files any, elsewhere
    /// unfinished ones.
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

    /// Names in the folder where commands are run.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.work())? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Processes of this case that are still there.
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

    /// Ends every process of this case.
    pub fn end_all(&self) {
        for _ in 0..50 {
            let alive = self.alive();
            if alive.is_empty() {
                return;
            }
            for process in alive {
                // SAFETY: kill reads no memory of ours.
                unsafe { libc::kill(process, libc::SIGKILL) };
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.end_all();
        // A folder that was made read-only is removed all the same.
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            let _ = fs::set_permissions(&folder, fs::Permissions::from_mode(0o700));
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            let inner = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|e| e.path()));
        }
    }
}

/// What stands in a file that the user wants to keep.
const OLD: &[u8] = b"an old file that the user wants to keep\n";
