//! The editor of the user, which opens a line of code.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, io, thread};

use loadscope_insight::code::Place;
use loadscope_window::Host as _;
use loadscope_words::say;

use super::App;

/// Variables that name the editor, in order of priority.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// Editors that take `--goto FILE:LINE`.
const GOTO: [&str; 5] = ["code", "code-insiders", "codium", "cursor", "windsurf"];
/// Editors that take `FILE:LINE`.
const WITH_COLON: [&str; 4] = ["subl", "zed", "hx", "helix"];
/// Editors that need a terminal.
const IN_TERMINAL: [&str; 10] = [
    "vi", "vim", "nvim", "nano", "pico", "hx", "helix", "micro", "kak", "joe",
];
/// Terminal of the user, as Debian names it, with its option for a command.
const TERMINAL: [&str; 2] = ["x-terminal-emulator", "-e"];

/// Returns the command of the editor.
pub fn of_user() -> Option<String> {
    let set = VARIABLES.iter().filter_map(|name| env::var(name).ok());
    let mut named = set.filter(|command| !command.trim().is_empty());
    named.next()
}

/// Returns the program and its arguments that open the line.
fn command_line(editor: &str, place: &Place) -> Vec<String> {
    let words = editor.split_whitespace().map(str::to_owned);
    let mut line: Vec<String> = words.collect();
    let program = line.first().map(String::as_str).unwrap_or_default();
    let name = Path::new(program).file_stem().unwrap_or_default();
    let is_in = |names: &[&str]| names.iter().any(|one| name == *one);
    let (has_goto, has_colon, needs_terminal) =
        (is_in(&GOTO), is_in(&WITH_COLON), is_in(&IN_TERMINAL));
    let Place { file, line: at } = place;
    match (*at > 0, has_goto, has_colon) {
        (false, ..) => line.push(file.clone()),
        (true, true, _) => line.extend(["--goto".to_owned(), format!("{file}:{at}")]),
        (true, false, true) => line.push(format!("{file}:{at}")),
        (true, false, false) => line.extend([format!("+{at}"), file.clone()]),
    }
    if needs_terminal {
        line.splice(0..0, TERMINAL.map(str::to_owned));
    }
    line
}

/// Starts the editor, which outlives the window.
fn start(line: &[String]) -> io::Result<()> {
    let (program, arguments) = line.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null());
    // Ctrl+C in the terminal of Loadscope does not end the editor.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    // Without a waiting thread, the ended editor would remain as a zombie.
    let waits = thread::Builder::new().name("editor".to_owned());
    waits.spawn(move || child.wait()).map(drop)
}

impl App {
    /// Opens a line of code in the editor.
    pub(super) fn open_editor(&mut self, place: &Place) {
        let Some(editor) = self.state.place.editor.clone() else {
            return;
        };
        let file = &place.file;
        // The path is from the recording. A relative path can also be an option of the editor.
        let path = Path::new(file);
        if !path.is_absolute() || !path.is_file() {
            self.notify_error(say!(
                "{file} is not on this computer. The recording was made elsewhere, or the file has moved."
            ));
            return;
        }
        let line = command_line(&editor, place);
        if let Err(e) = start(&line) {
            let program = line.first().cloned().unwrap_or_default();
            self.notify_error(say!(
                "Cannot start {program}: {e}. Set VISUAL to an editor with a window, for example VISUAL=code."
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_editor_gets_the_line_in_its_own_way() {
        let at = |line| Place {
            file: "/a/b c.py".to_owned(),
            line,
        };
        let cases = [
            ("gedit", 7, "gedit|+7|/a/b c.py"),
            (
                "/usr/bin/code --wait",
                7,
                "/usr/bin/code|--wait|--goto|/a/b c.py:7",
            ),
            ("subl", 7, "subl|/a/b c.py:7"),
            ("vim", 7, "x-terminal-emulator|-e|vim|+7|/a/b c.py"),
            ("emacs", 0, "emacs|/a/b c.py"),
        ];
        for (editor, line, wanted) in cases {
            assert_eq!(command_line(editor, &at(line)).join("|"), wanted);
        }
    }
}
