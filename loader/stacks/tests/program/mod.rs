//! Python programs that tests start and kill.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Start of each program. `fifo()` creates a named pipe.
const PRELUDE: &str = "
import multiprocessing, os, signal, tempfile, threading, time
ctx = multiprocessing.get_context('fork')
def fifo():
    path = os.path.join(tempfile.mkdtemp(), 'fifo')
    os.mkfifo(path)
    return path
";

/// Running program. Dropping it kills the program and its child processes.
pub struct Program(Child);

impl Program {
    /// Starts a program with the Python of `LOADSCOPE_STACKS_PYTHON`, or `python3`. Returns `None` without Python.
    pub fn start(source: &str) -> Option<Self> {
        Self::start_in(&[], source)
    }

    /// Starts a program with a command before the Python.
    pub fn start_in(before: &[&str], source: &str) -> Option<Self> {
        let python = std::env::var("LOADSCOPE_STACKS_PYTHON").unwrap_or("python3".to_owned());
        let source = format!("{PRELUDE}{source}");
        let started = Self::run(&[before, &[&python, "-c", &source]].concat());
        if started.is_none() {
            println!("NOT RUN: no Python");
        }
        started
    }

    /// Starts a program whose standard output is a pipe without reads.
    pub fn start_with_output(source: &str) -> Option<Self> {
        let python = std::env::var("LOADSCOPE_STACKS_PYTHON").unwrap_or("python3".to_owned());
        Self::spawn(&[&python, "-c", source], Stdio::piped())
    }

    /// Starts a command.
    pub fn run(words: &[impl AsRef<OsStr>]) -> Option<Self> {
        Self::spawn(words, Stdio::inherit())
    }

    fn spawn(words: &[impl AsRef<OsStr>], output: Stdio) -> Option<Self> {
        let (name, arguments) = words.split_first()?;
        let mut command = Command::new(name);
        // Its own process group, so that its child processes are killed with it.
        command
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(output);
        command.env_remove("LD_LIBRARY_PATH");
        command.spawn().ok().map(Self)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Returns true if the program ends within half a second.
    pub fn has_ended_soon(&self) -> bool {
        std::thread::sleep(Duration::from_millis(500));
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid()));
        status.is_ok_and(|text| text.contains("\nState:\tZ"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let group = format!("-{}", self.pid());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.0.wait();
    }
}

/// Returns a Python with PyTorch, as `cargo xtask setup --pytorch` installs it.
pub fn pytorch() -> Option<PathBuf> {
    let own = std::env::var_os("LOADSCOPE_PROBE_PYTHON").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let cached = home.map(|home| home.join(".cache/loadscope/peers/venv/bin/python"));
    let found = own.or(cached).filter(|python| python.exists());
    if found.is_none() {
        println!("NOT RUN: no PyTorch");
    }
    found
}
