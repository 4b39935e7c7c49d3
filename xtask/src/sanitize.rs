//! The engine's tests under AddressSanitizer: reads and writes beyond memory, or of memory that was freed.
//!
//! Only Rust code is instrumented, not libtorch and not the standard library. What is checked with it is where the two meet: the
//! bytes of tensors that the engine reads and writes as slices, and the pages that it locks.

use std::env;
use std::ffi::OsString;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::setup::Ready;
use crate::steps;

/// Builds the tests anew in a folder of their own, with the sanitizer, and runs them.
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
            "loader",
        ],
    )?;
    // With a target named, build scripts and macros are left alone.
    command.args(["--target", &host]);
    command.env("CARGO_TARGET_DIR", ready.target.join("sanitize"));
    // The sanitizer's option is unstable, though its runtime comes with every compiler.
    command.env("RUSTC_BOOTSTRAP", "1");
    let libraries = ready.libtorch.join("lib");
    // Not RUSTFLAGS, in which a path must not hold a space.
    let flags = [
        "-Zsanitizer=address".to_owned(),
        format!("-Clink-arg=-Wl,-rpath,{}", libraries.display()),
    ];
    command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    // What libtorch keeps until the process ends is no leak of ours.
    command.env("ASAN_OPTIONS", "detect_leaks=0");
    steps::finish(command.args(arguments))
}

/// The compiler's own target.
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
    fn the_host_is_found() {
        let said = "rustc 1.95.0 (abc 2026-01-01)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(host_of(said).as_deref(), Some("x86_64-unknown-linux-gnu"));
        assert_eq!(host_of("nothing"), None);
    }
}
