//! Runs of the program.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::process::{Command, Output};

/// Runs the program.
pub fn loadscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_loadscope"))
        .args(args)
        // Without a display, a window cannot open and the command fails.
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("the executable starts")
}

/// Returns the JSON output of a successful command.
pub fn json(output: &Output) -> serde_json::Value {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

/// Runs a command that must fail with exit code 2 and one error message.
pub fn command_error(args: &[&str]) -> String {
    let output = loadscope(args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.starts_with("loadscope: "), "{text}");
    text
}
