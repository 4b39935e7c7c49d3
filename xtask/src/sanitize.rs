//! The engine's tests under AddressSanitizer, which finds out-of-bounds accesses and uses of freed memory.
//!
//! Only Rust code is instrumented, not libtorch and not the standard library. Therefore the tests check where the two meet: the tensor
//! bytes that the engine reads and writes as slices, and the pages that it locks.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::setup::Ready;
use crate::steps;

/// Builds the tests with the sanitizer in a separate folder, and runs them.
pub fn run(ready: &Ready, arguments: &[OsString]) -> Result<u8> {
    let host = host()?;
    if !host.contains("linux") && !host.contains("darwin") {
        bail!("AddressSanitizer for Rust needs Linux or macOS, but this is {host}. Run it there");
    }
    let mut command = steps::cargo_test(
        ready,
        &[
            "--package",
            "loadscope-engine",
            "--package",
            "loadscope-trace",
            "--lib",
            "--test",
            "integration",
        ],
    )?;
    // With an explicit target, the flags do not apply to build scripts and macros.
    command.args(["--target", &host]);
    command.env("CARGO_TARGET_DIR", ready.target.join("sanitize"));
    // The option is unstable, although each compiler contains the sanitizer's runtime.
    command.env("RUSTC_BOOTSTRAP", "1");
    let libraries = ready.libtorch.join("lib");
    // Paths in RUSTFLAGS cannot contain spaces.
    let flags = [
        "-Zsanitizer=address".to_owned(),
        format!("-Clink-arg=-Wl,-rpath,{}", libraries.display()),
    ];
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    // Memory that libtorch keeps until the process ends is not a leak of the engine.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    steps::finish(command.args(arguments))
}

/// Returns the target triple of the compiler.
pub fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output();
    let output =
        output.context("rustc could not be started. Install Rust from https://rustup.rs")?;
    host_of(&String::from_utf8_lossy(&output.stdout))
        .context("rustc does not say for which computer it is. Install Rust from https://rustup.rs")
}

fn host_of(version: &str) -> Option<String> {
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(|host| host.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_read_from_rustc_output() {
        let said = "rustc 1.95.0 (abc 2026-01-01)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(host_of(said).as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host_of("nothing"), None);
    }
}
