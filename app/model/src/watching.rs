//! Dialog for a Python program to watch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loadscope_insight::tune::{Row, Table};
use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::typing::expanded;

/// Form for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// Input so far.
    pub program: ProgramToWatch,
    /// Reason why the program was not started.
    pub problem: Option<String>,
}

impl Watching {
    /// Creates a form with this input.
    pub fn of(program: ProgramToWatch) -> Self {
        Self {
            program,
            problem: None,
        }
    }

    /// Returns the dialog with another script. The other input stays.
    #[must_use]
    pub fn with_script(self, script: &Path) -> Self {
        Self::of(self.program.with_script(script))
    }
}

/// A watched program that can be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Working directory. `None` is that of this process.
    pub folder: Option<PathBuf>,
}

impl Program {
    /// Returns the command line. Bytes that are not UTF-8 are replaced.
    pub fn shown(&self) -> String {
        let words = self.command.iter().map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A Python program and its start options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramToWatch {
    /// Python interpreter, a name or a path.
    pub python: String,
    /// Script, or `-m` and a module name.
    pub script: String,
    /// Arguments in shell syntax.
    pub arguments: String,
    /// Working directory. Empty is that of this process.
    pub folder: String,
    /// True if small previews of batch contents are recorded, about one per second.
    pub previews: bool,
}

impl Default for ProgramToWatch {
    fn default() -> Self {
        Self {
            python: Self::PYTHON.to_owned(),
            script: String::new(),
            arguments: String::new(),
            folder: String::new(),
            previews: true,
        }
    }
}

impl ProgramToWatch {
    /// Default Python interpreter.
    pub const PYTHON: &str = "python3";

    /// Number of recorded images per batch.
    pub const PICTURES: u32 = 8;

    /// Returns the program with this script, started in the folder of the script.
    #[must_use]
    pub fn with_script(mut self, script: &Path) -> Self {
        if let (Some(folder), Some(name)) = (script.parent(), script.file_name()) {
            self.folder = folder.display().to_string();
            self.script = name.to_string_lossy().into_owned();
        }
        self
    }

    /// Returns the command line.
    ///
    /// # Errors
    /// An error message that names the missing part.
    pub fn command(&self) -> Result<Vec<OsString>, &'static str> {
        let script = self.script.trim();
        if script.is_empty() {
            return Err(say!("Name the program: train.py, or -m and a module"));
        }
        let python = match self.python.trim() {
            "" => Self::PYTHON,
            python => python,
        };
        let open = || say!("A quotation mark in the arguments is not closed");
        let arguments = shlex::split(&self.arguments).ok_or_else(open)?;
        let script = match script.strip_prefix("-m") {
            Some(module) if module.starts_with(char::is_whitespace) => {
                vec![OsString::from("-m"), OsString::from(module.trim())]
            }
            _ => vec![expanded(script).into_os_string()],
        };
        let words = std::iter::once(expanded(python).into_os_string())
            .chain(script)
            .chain(arguments.into_iter().map(OsString::from));
        Ok(words.collect())
    }

    /// Returns the working directory. `None` is that of this process.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.folder.trim();
        (!folder.is_empty()).then(|| expanded(folder))
    }

    /// Returns the script file, joined to the working directory. Returns `None` for a module.
    pub fn file(&self) -> Option<PathBuf> {
        let script = self.script.trim();
        let is_file = !script.is_empty() && !script.starts_with('-');
        is_file.then(|| self.folder().unwrap_or_default().join(expanded(script)))
    }
}

/// State of the runs with other arguments.
#[derive(Clone, Debug, Default)]
pub struct TuneRuns {
    /// Folder of the recordings.
    pub folder: PathBuf,
    /// Progress lines: one at the start and one at the end of each run, latest last.
    pub lines: Vec<String>,
    /// Result, after all runs have ended.
    pub outcome: Option<Outcome>,
}

/// Result of the runs.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// Comparison of the runs.
    Compared(Arc<Table>),
    /// The user ended the runs before the first one finished.
    Ended,
    /// There is nothing to compare. Contains the reason.
    Failed(String),
}

/// Progress of the runs.
#[derive(Clone, Debug)]
pub enum TuneUpdate {
    /// Start of the runs, with the folder of the recordings.
    Begun(PathBuf),
    /// Another progress line.
    Line(String),
    /// End of all runs.
    Over(Outcome),
}

impl TuneRuns {
    /// Returns the setting of a recording.
    pub fn setting(&self, recording: &Path) -> Option<String> {
        let Some(Outcome::Compared(table)) = &self.outcome else {
            return None;
        };
        let is_it = |row: &&Row| self.folder.join(&row.tried.recording) == recording;
        table.rows.iter().find(is_it).map(Row::name)
    }

    /// Returns the latest progress line while the runs continue.
    pub fn under_way(&self) -> Option<&str> {
        let line = self.lines.last().map_or("", |line| line.trim());
        self.is_running().then_some(line)
    }

    /// Returns true while the runs continue.
    pub fn is_running(&self) -> bool {
        self.outcome.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(program: &ProgramToWatch) -> Vec<String> {
        let command = program.command().expect("a command");
        command
            .into_iter()
            .map(|word| word.into_string().expect("text"))
            .collect()
    }

    #[test]
    fn arguments_are_split_as_a_shell_does() {
        let mut program = ProgramToWatch {
            script: " train.py ".to_owned(),
            arguments: "--epochs 3 --name 'two words' --empty \"\"".to_owned(),
            ..ProgramToWatch::default()
        };
        let wanted = [
            "python3",
            "train.py",
            "--epochs",
            "3",
            "--name",
            "two words",
            "--empty",
            "",
        ];
        assert_eq!(words(&program), wanted);
        program.arguments = "'open".to_owned();
        assert!(program.command().is_err());
    }

    #[test]
    fn a_module_is_started_with_dash_m() {
        let program = ProgramToWatch {
            python: " ".to_owned(),
            script: "-m package.train".to_owned(),
            ..ProgramToWatch::default()
        };
        assert_eq!(words(&program), ["python3", "-m", "package.train"]);
        assert_eq!(program.file(), None);
    }

    #[test]
    fn a_program_without_a_script_is_refused() {
        let program = ProgramToWatch::default();
        let why = program.command().expect_err("nothing to start");
        assert!(why.contains("train.py"), "{why}");
    }

    #[test]
    fn a_chosen_script_starts_in_its_own_folder() {
        let file = Path::new("/work/project/train.py");
        let program = ProgramToWatch::default().with_script(file);
        assert_eq!(
            (&*program.folder, &*program.script),
            ("/work/project", "train.py")
        );
        assert_eq!(program.file().as_deref(), Some(file));
    }
}
