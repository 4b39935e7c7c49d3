//! A program that was started from the window: what it is started with, and how it ended.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use loadscope_insight::arrival::Notice;
use loadscope_model::watching::ProgramToWatch;
use loadscope_session::{End, Output, Request, Watched};
use loadscope_words::say;

/// So many of the last lines that a program wrote are shown when it fails.
const LAST_LINES: usize = 4;
/// They are looked for in so many bytes at the end.
const LAST_BYTES: i64 = 4096;
/// Names that are tried for the file of what it writes.
const MOST_NAMES: u32 = 10_000;

/// A program that was started from the window.
pub(super) struct Launched {
    pub watched: Watched,
    /// Its file, or its module.
    name: String,
    /// What it writes.
    output: PathBuf,
}

/// Starts a program; the sentence says why it cannot be.
pub(super) fn start(program: &ProgramToWatch) -> Result<Launched, String> {
    let command = program.command()?;
    let folder = program.folder();
    if let Some(folder) = folder.as_deref().filter(|folder| !folder.is_dir()) {
        return Err(say!("There is no folder {}", folder.display()));
    }
    if let Some(file) = program.file().filter(|file| !file.is_file()) {
        return Err(say!(
            "There is no file {}. Choose the program, or name its folder",
            file.display()
        ));
    }
    let (output, file) = new_output().map_err(|e| {
        let folder = std::env::temp_dir();
        say!(
            "{}: what the program prints cannot be written there: {e}",
            folder.display()
        )
    })?;
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
    let script = command.get(1).map(OsString::as_os_str).unwrap_or_default();
    let name = match Path::new(script).file_name() {
        Some(name) if script != "-m" => name.to_string_lossy().into_owned(),
        _ => program.script.trim().to_owned(),
    };
    Ok(Launched {
        watched,
        name,
        output,
    })
}

/// A new file for what a program prints.
fn new_output() -> io::Result<(PathBuf, File)> {
    let folder = std::env::temp_dir();
    let id = std::process::id();
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for n in 1..=MOST_NAMES {
        let path = folder.join(format!("loadscope-output-{id}-{n}.txt"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => last = e,
            Err(e) => return Err(e),
        }
    }
    Err(last)
}

/// How a program ended, and where what it printed is.
pub(super) fn notice(launched: &Launched, end: End) -> Notice {
    let Launched { name, output, .. } = launched;
    let shown = output.display();
    let how = match end {
        End::Code(0) => {
            return Notice {
                is_error: false,
                text: say!("The program {name} has ended. What it printed is in {shown}"),
            };
        }
        End::Code(code) => say!("The program {name} has ended with exit code {code}"),
        End::Signal(number) => say!("The program {name} was ended by signal {number}"),
    };
    let lines = last_lines(output).unwrap_or_default();
    let text = match lines.is_empty() {
        true => say!("{how}. What it printed is in {shown}"),
        false => say!("{how}. What it printed is in {shown}; at the end:\n{lines}"),
    };
    let is_error = true;
    Notice { is_error, text }
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

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
mod tests {
    use super::*;

    fn why(program: &ProgramToWatch) -> String {
        start(program).err().expect("it cannot be started")
    }

    #[test]
    fn what_cannot_be_started_is_named() {
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
