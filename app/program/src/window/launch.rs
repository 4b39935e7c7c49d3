//! Programs started from the window: the command, the output and the end of one, and trials with other arguments on a thread.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use loadscope_insight::session_event::Notice;
use loadscope_model::watching::{Outcome, TuneUpdate};
use loadscope_model::watching::{Program, ProgramToWatch};
use loadscope_session::tune::{Job, Progress, tune};
use loadscope_session::{End, Output, Request, StackSampling, Waker, Watched};
use loadscope_words::{path_error, say};

use super::outputs::Outputs;

/// Number of the last output lines shown when a program fails.
const LAST_LINES: usize = 4;
/// Bytes at the end of the output that are searched for these lines.
const LAST_BYTES: i64 = 4096;

/// Program that was started from the window.
pub(super) struct Launched {
    pub watched: Watched,
    /// File name or module.
    name: String,
    /// Output file.
    output: PathBuf,
    /// Command to start it again.
    pub restart_command: Program,
}

impl Launched {
    /// Ends a program that cannot be watched, and removes its output.
    pub fn abandon(self) {
        self.watched.kill_unwatched();
        let _ = std::fs::remove_file(self.output);
    }
}

/// Starts a program. Returns an error message with the reason on failure.
pub(super) fn start(program: &ProgramToWatch, outputs: &mut Outputs) -> Result<Launched, String> {
    let command = program.command()?;
    let folder = program.folder();
    if let Some(folder) = folder.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(path_error(folder, &io::ErrorKind::NotFound.into()));
    }
    if let Some(file) = program.file().filter(|file| !file.is_file()) {
        return Err(say!(
            "{}: not found. Choose the program, or enter its folder.",
            file.display()
        ));
    }
    let (output, file) = outputs
        .create()
        .map_err(|e| say!("The output of the program cannot be saved: {e}"))?;
    let request = Request {
        previews: if program.previews {
            ProgramToWatch::PICTURES
        } else {
            0
        },
        ..Request::default()
    };
    let watched = Watched::start_in(folder.as_deref(), &command, &request, Output::File(file));
    let watched = watched.map_err(|e| {
        let _ = std::fs::remove_file(&output);
        e.to_string()
    })?;
    watched.set_stacks(StackSampling::default());
    let script = command.get(1).map(OsString::as_os_str).unwrap_or_default();
    let name = match Path::new(script).file_name() {
        Some(name) if script != "-m" => name.to_string_lossy().into_owned(),
        _ => program.script.trim().to_owned(),
    };
    Ok(Launched {
        watched,
        name,
        output,
        restart_command: Program { command, folder },
    })
}

/// Returns the notice about the end of a program, with the path of its output.
pub(super) fn notice(launched: &Launched, end: End) -> Notice {
    let Launched { name, output, .. } = launched;
    let shown = output.display();
    let how = match end {
        End::Code(0) => {
            let text = say!("The program {name} ended. Its output is in {shown}.");
            return Notice::note(text);
        }
        End::Code(code) => say!("The program {name} ended with exit code {code}"),
        End::Signal(number) => say!("The program {name} was terminated by signal {number}"),
    };
    let lines = last_lines(output).unwrap_or_default();
    let text = match lines.is_empty() {
        true => say!("{how}. Its output is in {shown}."),
        false => say!("{how}. Its output is in {shown}. The last lines:\n{lines}"),
    };
    Notice::error(text)
}

fn last_lines(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let len = i64::try_from(file.metadata()?.len()).unwrap_or(i64::MAX);
    file.seek(SeekFrom::End(-len.min(LAST_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(LAST_LINES);
    Ok(lines[from..].join("\n"))
}

/// Trials in progress.
pub(super) struct Tries {
    /// Number of requests to end. The first one asks the program to end in order.
    ends: Arc<AtomicUsize>,
    pub news: Receiver<TuneUpdate>,
    thread: Option<JoinHandle<()>>,
}

impl Tries {
    pub fn start(job: Job, wake: Waker) -> io::Result<Self> {
        // The channel needs no bound: a trial sends a few messages and takes seconds.
        let (sender, news) = unbounded();
        let ends = Arc::new(AtomicUsize::new(0));
        let asked = Arc::clone(&ends);
        let thread = Builder::new()
            .name("try".to_owned())
            .spawn(move || run_trials(&job, &asked, &sender, &wake))?;
        Ok(Self {
            ends,
            news,
            thread: Some(thread),
        })
    }

    pub fn end(&self) {
        self.ends.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Tries {
    /// Ends the program, because no user could end it without the window.
    fn drop(&mut self) {
        self.ends.fetch_add(2, Ordering::AcqRel);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run_trials(job: &Job, ends: &AtomicUsize, news: &Sender<TuneUpdate>, wake: &Waker) {
    let tell = |new| {
        // Without a window there is no receiver.
        let _ = news.send(new);
        wake();
    };
    let ends = || ends.load(Ordering::Acquire);
    let mut line = |progress: Progress<'_>| tell(TuneUpdate::Line(progress.to_string()));
    let outcome = match tune(job, &mut line, &ends) {
        Ok(tuned) => match tuned.table {
            Some(table) => Outcome::Compared(Arc::new(table)),
            None => Outcome::Ended,
        },
        Err(e) => Outcome::Failed(e.to_string()),
    };
    tell(TuneUpdate::Over(outcome));
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    fn why(program: &ProgramToWatch) -> String {
        start(program, &mut Outputs::of(None))
            .err()
            .expect("it cannot be started")
    }

    #[test]
    fn a_missing_script_python_or_folder_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut program = ProgramToWatch {
            script: "train.py".to_owned(),
            folder: folder.path().display().to_string(),
            ..ProgramToWatch::default()
        };
        assert!(why(&program).contains("train.py"));
        std::fs::write(folder.path().join("train.py"), "").expect("a file");
        program.python = "/no/such/python".to_owned();
        assert!(why(&program).contains("/no/such/python"));
        program.folder = "/no/such/folder".to_owned();
        assert!(why(&program).contains("/no/such/folder"));
    }

    #[test]
    fn a_program_that_fails_shows_its_last_lines() {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("output.txt");
        std::fs::write(&output, "1\n2\n3\n4\nValueError: it failed\n").expect("a file");
        assert_eq!(
            last_lines(&output).expect("lines"),
            "2\n3\n4\nValueError: it failed"
        );
        std::fs::write(&output, "").expect("a file");
        assert_eq!(last_lines(&output).expect("lines"), "");
    }
}
