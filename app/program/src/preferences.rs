//! Preferences file.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use loadscope_files::{AtomicFile, Existing, WriteError, read_text};

use loadscope_model::prefs::Prefs;
use loadscope_trace::without_password;

/// Minimum time between two writes.
const EVERY: Duration = Duration::from_secs(5);

/// Maximum size of the file, bytes.
const LONGEST: u64 = 1 << 20;

/// Storage of the preferences. A background thread replaces the file as a whole.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    /// Preferences last loaded or written.
    kept: Option<Prefs>,
    looked: Option<Instant>,
    writing: Option<JoinHandle<()>>,
}

impl Clone for Store {
    fn clone(&self) -> Self {
        Self::at(&self.path)
    }
}

impl Store {
    /// Returns the storage of this user, or `None` if the system has no data folder.
    pub fn of_user() -> Option<Self> {
        let data = dirs::data_dir()?;
        Some(Self::at(&data.join("loadscope").join("preferences.json")))
    }

    /// Returns the storage at `path`.
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            kept: None,
            looked: None,
            writing: None,
        }
    }

    /// Loads the stored preferences. Returns `None` for a missing or invalid file.
    pub fn load(&mut self) -> Option<Prefs> {
        let text = read_text(&self.path, "preferences", LONGEST).ok()?;
        let prefs: Prefs = serde_json::from_str(&text).ok()?;
        self.kept = Some(prefs.clone());
        Some(prefs)
    }

    /// Returns true every few seconds, when [`Store::save`] is due.
    pub fn is_due(&mut self) -> bool {
        let due = self.looked.is_none_or(|at| at.elapsed() >= EVERY);
        if due {
            self.looked = Some(Instant::now());
        }
        due
    }

    /// Writes the preferences in the background, if they have changed.
    pub fn save(&mut self, prefs: &Prefs) {
        let writes = self.writing.as_ref().is_some_and(|job| !job.is_finished());
        if writes || self.kept.as_ref() == Some(prefs) {
            return;
        }
        self.kept = Some(prefs.clone());
        let (path, prefs) = (self.path.clone(), prefs.clone());
        // A write to a full disk loses only the preferences.
        let job = move || drop(write(&path, &prefs));
        self.writing = Builder::new()
            .name("preferences".to_owned())
            .spawn(job)
            .ok();
    }

    /// Writes the preferences if they have changed, and waits until they are written.
    pub fn finish(&mut self, prefs: &Prefs) {
        if let Some(job) = self.writing.take() {
            let _ = job.join();
        }
        if self.kept.as_ref() != Some(prefs) && write(&self.path, prefs).is_ok() {
            self.kept = Some(prefs.clone());
        }
    }
}

fn write(path: &Path, prefs: &Prefs) -> Result<(), WriteError> {
    let failed = |doing| {
        move |cause| WriteError::Io {
            path: path.to_owned(),
            doing,
            cause,
        }
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed("create"))?;
    }
    // Passwords are not stored.
    let mut prefs = prefs.clone();
    prefs.options.dataset = without_password(&prefs.options.dataset);
    let text = serde_json::to_vec_pretty(&prefs).map_err(std::io::Error::from);
    let text = text.map_err(failed("write"))?;
    // Another window that closes at the same moment may be writing the file. A write takes an instant.
    for _ in 0..TRIES {
        match AtomicFile::write_all_to(path, Existing::Replace, &text) {
            Err(WriteError::InUse(_)) => std::thread::sleep(SOON),
            written => return written,
        }
    }
    AtomicFile::write_all_to(path, Existing::Replace, &text)
}

/// Attempts to write a file that another process writes, and the pause between them.
const TRIES: usize = 5;
const SOON: Duration = Duration::from_millis(20);

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_kept_and_read_back() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("loadscope/preferences.json");
        let mut store = Store::at(&path);
        assert_eq!(store.load(), None);
        let mut prefs = Prefs {
            asks: false,
            ..Prefs::default()
        };
        store.save(&prefs);
        store.finish(&prefs);
        assert_eq!(Store::at(&path).load(), Some(prefs.clone()));
        prefs.inspector_open = !prefs.inspector_open;
        store.finish(&prefs);
        assert_eq!(Store::at(&path).load(), Some(prefs.clone()));
        // A damaged file is replaced.
        fs::write(&path, "{\"theme\": 7").expect("room");
        let mut store = Store::at(&path);
        assert_eq!(store.load(), None);
        store.finish(&prefs);
        assert_eq!(Store::at(&path).load(), Some(prefs));
    }

    #[test]
    fn passwords_are_not_kept() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("preferences.json");
        let mut prefs = Prefs::default();
        prefs.options.dataset = "sql:postgresql://me:secret@host/db,query=SELECT 1".to_owned();
        Store::at(&path).finish(&prefs);
        let text = fs::read_to_string(&path).expect("it was written");
        assert!(
            text.contains("me:***@host") && !text.contains("secret"),
            "{text}"
        );
    }

    #[cfg(unix)]
    #[test]
    fn devices_as_the_preferences_file_are_ignored() {
        assert_eq!(Store::at(Path::new("/dev/zero")).load(), None);
        let mut store = Store::at(Path::new("/dev/full"));
        store.finish(&Prefs::default());
        assert_eq!(store.kept, None);
    }

    /// A new file replaces a link, but not its target or a folder.
    #[cfg(unix)]
    #[test]
    fn a_link_target_and_a_folder_are_not_overwritten() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("preferences.json");
        let old = Prefs::default();
        Store::at(&path).finish(&old);
        let new = Prefs {
            asks: !old.asks,
            ..Prefs::default()
        };
        // The new file replaces the link. The target of the link stays.
        let link = dir.path().join("link.json");
        symlink(&path, &link).expect("links");
        let mut store = Store::at(&link);
        store.finish(&new);
        assert_eq!(Store::at(&link).load(), Some(new.clone()));
        assert_eq!(Store::at(&path).load(), Some(old.clone()));
        // A folder with the same name is not replaced.
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).expect("own folder");
        let mut store = Store::at(&folder);
        store.finish(&new);
        assert_eq!(store.kept, None);
        assert!(folder.is_dir());
    }
}
