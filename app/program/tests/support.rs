//! Shared helpers: runs of the program, child processes, and Python interpreters.

#![allow(dead_code, reason = "some tests run only with the engine, or on Linux")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Returns a call of the program without a display, so that no window opens.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadscope"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command
}

/// Runs the program.
pub fn loadscope(args: &[&str]) -> Output {
    let mut command = program();
    command.args(args).env("LC_ALL", "C.UTF-8");
    command.output().expect("the executable starts")
}

/// Runs a call of the program without input. Panics if it takes longer than a minute.
pub fn run(command: &mut Command) -> Output {
    let command = command.stdin(Stdio::null()).stderr(Stdio::piped());
    finished(
        command.spawn().expect("the executable starts"),
        Duration::from_secs(60),
    )
}

/// Returns the output of a successful command.
pub fn stdout_of(args: &[&str]) -> String {
    let output = loadscope(args);
    let (said, complaint) = words(&output);
    assert!(output.status.success(), "{args:?}: {complaint}");
    said
}

/// Returns the JSON output of a successful command.
pub fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", words(output).1);
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

/// Returns the facts of a recording.
pub fn info(path: &Path) -> Value {
    json(&loadscope(&["info", text(path), "--json"]))
}

/// Runs a command that must fail with exit code 2 and one error message.
pub fn command_error(args: &[&str]) -> String {
    let output = loadscope(args);
    let text = words(&output).1;
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.starts_with("loadscope: "), "{text}");
    text
}

/// Returns the output and the error messages.
pub fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Returns a path of a test as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("plain letters")
}

/// Waits until the child ends by itself. After the timeout, it kills the child and panics.
pub fn ends(child: &mut Child, within: Duration) {
    let began = Instant::now();
    while child.try_wait().expect("it is our child").is_none() {
        if began.elapsed() > within {
            let _ = child.kill();
            panic!("it does not end within {within:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the child ends by itself, and returns its output.
pub fn finished(mut child: Child, within: Duration) -> Output {
    ends(&mut child, within);
    child.wait_with_output().expect("it has ended")
}

/// Sends a signal to a process that was not waited for.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a signal")]
pub fn signal(process: u32, number: libc::c_int) {
    let process = libc::pid_t::try_from(process).expect("a process id");
    // SAFETY: `kill` reads no memory of this process.
    assert_eq!(unsafe { libc::kill(process, number) }, 0, "signal {number}");
}

/// Creates a named pipe.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a system call")]
pub fn make_pipe(path: &Path) {
    use std::os::unix::ffi::OsStrExt as _;

    let name = std::ffi::CString::new(path.as_os_str().as_bytes()).expect("no zero");
    // SAFETY: the name ends with a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
}

/// Returns a Python, with or without PyTorch.
pub fn python() -> Option<PathBuf> {
    let names = ["python3", "python"];
    let works = |name: &&str| {
        Command::new(name)
            .arg("-c")
            .arg("pass")
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|s| s.success())
    };
    names.into_iter().find(works).map(PathBuf::from)
}

/// Returns a Python with PyTorch: that of `LOADSCOPE_PROBE_PYTHON`, or of `cargo xtask setup --pytorch`. A clean clone has none, because it
/// is a download of gigabytes.
pub fn pytorch() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_PROBE_PYTHON") {
        return Some(own.into());
    }
    made("venv", "import torch")
}

/// Returns any Python. Prints a line about the skipped test if there is none.
#[allow(clippy::print_stderr, reason = "a test says what it did not run")]
pub fn needed_python() -> Option<PathBuf> {
    let found = python();
    if found.is_none() {
        eprintln!("There is no Python here, so this was not tested");
    }
    found
}

/// Returns a Python with PyTorch. Prints a line about the skipped test if there is none.
#[allow(clippy::print_stderr, reason = "a test says what it did not run")]
pub fn needed_pytorch() -> Option<PathBuf> {
    let found = pytorch();
    if found.is_none() {
        eprintln!(
            "There is no PyTorch here, so this was not tested; `cargo xtask setup --pytorch` gets one"
        );
    }
    found
}

/// Returns a Python with PyTorch and training frameworks: that of `LOADSCOPE_LIBRARIES_PYTHON`, or of `cargo xtask setup --formats` and
/// `cargo xtask kinds`.
pub fn libraries() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_LIBRARIES_PYTHON") {
        return Some(own.into());
    }
    made(
        "kinds",
        "import torch, importlib.metadata as m; m.version('lightning')",
    )
}

/// Returns the Python of a cached environment, if it exists and can run `what`.
fn made(environment: &str, what: &str) -> Option<PathBuf> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("LOADSCOPE_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("loadscope")))
        .or_else(|| Some(folder("HOME")?.join(".cache/loadscope")))?;
    let python = cache.join("peers").join(environment).join("bin/python");
    let mut asked = Command::new(&python);
    asked
        .args(["-c", what])
        .env_remove("LD_LIBRARY_PATH")
        .stderr(Stdio::null());
    asked.status().is_ok_and(|s| s.success()).then_some(python)
}
