//! A program that is to be watched, as it is typed into the window.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::typing::expanded;

/// The sheet that asks for a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watching {
    /// What was typed so far.
    pub program: ProgramToWatch,
    /// Why it was not started.
    pub problem: Option<String>,
}

impl Watching {
    /// The sheet with what was typed so far.
    pub fn of(program: ProgramToWatch) -> Self {
        Self {
            program,
            problem: None,
        }
    }

    /// The same with the program in this file; what else was typed stays.
    #[must_use]
    pub fn with_script(self, script: &Path) -> Self {
        Self::of(self.program.with_script(script))
    }
}

/// A program that was started to be watched, and can be started again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// It and its arguments.
    pub command: Vec<OsString>,
    /// The folder that it was started in; `None`: that of this process.
    pub folder: Option<PathBuf>,
}

impl Program {
    /// It and its arguments as a person would type them, as far as they are text.
    pub fn shown(&self) -> String {
        let words = self.command.iter().map(|word| word.to_string_lossy());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// A Python program and how it is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramToWatch {
    /// The Python that runs it: a name or a path.
    pub python: String,
    /// Its file, or `-m` and the name of a module.
    pub script: String,
    /// What follows, as one types it into a shell.
    pub arguments: String,
    /// The folder that it is started in; empty: that of this process.
    pub folder: String,
    /// Small pictures and numbers of what is in a batch are kept, about once a second.
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
    /// The Python that is taken where none is named.
    pub const PYTHON: &str = "python3";

    /// So many pictures of a batch are kept, if any.
    pub const PICTURES: u32 = 8;

    /// The one in this file, started in its folder.
    #[must_use]
    pub fn with_script(mut self, script: &Path) -> Self {
        if let (Some(folder), Some(name)) = (script.parent(), script.file_name()) {
            self.folder = folder.display().to_string();
            self.script = name.to_string_lossy().into_owned();
        }
        self
    }

    /// What is started.
    ///
    /// # Errors
    /// A sentence that says what is missing.
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

    /// The folder that it is started in; `None`: that of this process.
    pub fn folder(&self) -> Option<PathBuf> {
        let folder = self.folder.trim();
        (!folder.is_empty()).then(|| expanded(folder))
    }

    /// The file of the program, from the folder that it is started in; `None` for a module.
    pub fn file(&self) -> Option<PathBuf> {
        let script = self.script.trim();
        let is_file = !script.is_empty() && !script.starts_with('-');
        is_file.then(|| self.folder().unwrap_or_default().join(expanded(script)))
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
    fn a_module_is_run_with_m() {
        let program = ProgramToWatch {
            python: " ".to_owned(),
            script: "-m package.train".to_owned(),
            ..ProgramToWatch::default()
        };
        assert_eq!(words(&program), ["python3", "-m", "package.train"]);
        assert_eq!(program.file(), None);
    }

    #[test]
    fn a_program_without_a_name_says_what_is_missing() {
        let program = ProgramToWatch::default();
        let why = program.command().expect_err("nothing to start");
        assert!(why.contains("train.py"), "{why}");
    }

    #[test]
    fn a_file_that_was_chosen_is_started_in_its_folder() {
        let file = Path::new("/work/project/train.py");
        let program = ProgramToWatch::default().with_script(file);
        assert_eq!(
            (&*program.folder, &*program.script),
            ("/work/project", "train.py")
        );
        assert_eq!(program.file().as_deref(), Some(file));
    }
}
