//! Comparison with Python. A script in this folder prints the counterpart's samples, one JSON value per sample.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test ends with what went wrong; files and threads of tests"
)]

pub mod archives;
#[path = "../interpreter/mod.rs"]
mod interpreter;
pub mod server;
pub mod sql;

use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use loadscope_formats::{Cell, Fault, FormatError};
use serde_json::{Value, json};
use server::{PASSWORD, QUOTED};

#[allow(unused_imports, reason = "each test uses a part of it")]
pub use interpreter::{python, say};

/// Returns the result of `work`, or panics after `limit`.
pub fn within<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = mpsc::channel();
    let thread = std::thread::spawn(move || send.send(work()).is_ok());
    match receive.recv_timeout(limit) {
        Ok(answer) => answer,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("not done within {limit:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(_) => unreachable!("it sends before it ends"),
        },
    }
}

/// Checks the kind of an error and words of its text, and that the text contains no password.
pub fn fault(error: &FormatError, fault: Fault, says: &[&str]) {
    let text = error.to_string();
    assert_eq!(error.fault, fault, "{text}");
    for part in says {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
    for secret in [PASSWORD, QUOTED] {
        assert!(!text.contains(secret), "{text}");
        assert!(!format!("{error:?}").contains(secret), "{text}");
    }
}

/// Checks errors, one per line: the error, its kind, and words of its text.
#[allow(unused_macros, reason = "each test uses a part of it")]
macro_rules! faults {
    ($($error:expr => $fault:ident $(, $says:expr)*;)+) => {
        $(crate::peers::fault(&$error, loadscope_formats::Fault::$fault, &[$($says),*]);)+
    };
}
#[allow(unused_imports, reason = "each test uses a part of it")]
pub(crate) use faults;

/// Runs a script of this folder.
pub fn run(python: &Path, script: &str, arguments: &[&str]) -> Vec<Value> {
    run_with(python, script, arguments, &[])
}

/// Runs a script of this folder with environment variables.
pub fn run_with(
    python: &Path,
    script: &str,
    arguments: &[&str],
    environment: &[(&str, String)],
) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
    let output = Command::new(python)
        .arg(folder.join(script))
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} {arguments:?}: {errors}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Converts a cell to the output of `shown.py`.
pub fn shown(cell: &Cell) -> Value {
    let bytes = |kind: &str, bytes: &[u8]| {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        json!([kind, bytes.len(), crc.sum()])
    };
    match cell {
        Cell::Null => Value::Null,
        Cell::Bool(value) => json!(value),
        Cell::Int(value) => json!(["int", value.to_string()]),
        Cell::BigInt(value) => json!(["int", value.to_string()]),
        Cell::Float(value) if value.is_nan() => json!(["float", "nan"]),
        Cell::Float(value) => json!(["float", format!("{:016x}", value.to_bits())]),
        Cell::Text(text) => json!(["str", &**text]),
        Cell::Bytes(of) => bytes("bytes", of),
        // Only the encoded bytes of images are compared. Tests of the decoder cover the pixels.
        Cell::Picture(picture) => bytes("bytes", &picture.bytes),
        Cell::Scalar(scalar) => bytes(scalar.dtype().name(), scalar.bytes()),
        Cell::Array(array) => json!([
            "array",
            array.dtype().name(),
            array.shape(),
            bytes("bytes", array.bytes())
        ]),
        Cell::List(cells) => json!(["list", cells.iter().map(shown).collect::<Vec<_>>()]),
        Cell::Tuple(cells) => json!(["tuple", cells.iter().map(shown).collect::<Vec<_>>()]),
        Cell::Map(fields) => {
            let fields = fields
                .iter()
                .map(|(key, cell)| json!([&**key, shown(cell)]));
            json!(["dict", fields.collect::<Vec<_>>()])
        }
    }
}
