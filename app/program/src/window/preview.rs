//! Preview of a lesson file. The file is read again whenever it changes.

use std::path::{Path, PathBuf};
use std::thread::Builder;
use std::time::{Duration, SystemTime};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use loadscope_files::read_text;
use loadscope_lessons::Lesson;
use loadscope_session::Waker;

/// Polling interval for the file.
const EVERY: Duration = Duration::from_millis(300);

/// Maximum size of a lesson, bytes.
const LONGEST: u64 = 1 << 20;

/// Lesson or list to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LearnTarget {
    /// List of lessons.
    Contents,
    /// Lesson by number.
    Lesson(u32),
    /// Lesson file that is being written.
    File(PathBuf),
}

/// Reads a lesson.
///
/// # Errors
/// Returns an error message with the file, the line, and the correct form.
pub fn read_lesson(path: &Path) -> Result<Box<Lesson>, String> {
    let text = read_text(path, "lesson", LONGEST).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let lesson = Lesson::read(&name.to_string_lossy(), &text);
    lesson.map(Box::new).map_err(|error| error.to_string())
}

/// Lesson, or the error of its file.
pub(super) type LessonResult = Result<Box<Lesson>, String>;

/// Lesson file that is being written.
pub(super) struct Preview {
    path: PathBuf,
    updates: Receiver<LessonResult>,
    /// Ends the thread when it is dropped.
    _end: Sender<()>,
}

impl Preview {
    /// Starts to follow the file. The first update is its current content.
    pub(super) fn start(path: &Path, wake: Waker) -> std::io::Result<Self> {
        let (tell, updates) = bounded(4);
        let (end, ended) = bounded::<()>(0);
        let job = {
            let path = path.to_owned();
            move || follow(&path, &tell, &ended, &wake)
        };
        Builder::new().name("lesson file".to_owned()).spawn(job)?;
        Ok(Self {
            path: path.to_owned(),
            updates,
            _end: end,
        })
    }

    /// Returns the path and the newest content, if it changed.
    pub(super) fn updates(&self) -> Option<(PathBuf, LessonResult)> {
        let read = self.updates.try_iter().last()?;
        Some((self.path.clone(), read))
    }
}

fn follow(path: &Path, tell: &Sender<LessonResult>, ended: &Receiver<()>, wake: &Waker) {
    let mut known: Option<(Option<SystemTime>, u64)> = None;
    loop {
        let about = std::fs::metadata(path).ok();
        let now = about.map(|about| (about.modified().ok(), about.len()));
        if known.is_none() || (now.is_some() && now != known) {
            known = now.or(Some((None, 0)));
            if tell.send(read_lesson(path)).is_err() {
                return;
            }
            wake();
        }
        match ended.recv_timeout(EVERY) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
