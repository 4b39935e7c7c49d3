//! Crates that also run in a browser: their compiler, the check that they compile, and their page.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::setup::{Ready, workspace};

mod digits;
mod page;

pub use page::{Options, build, install, run};

/// Compiler target for a browser.
const TARGET: &str = "wasm32-unknown-unknown";

/// Crates that need no thread, clock, file or socket.
const CRATES: [&str; 10] = [
    "loadscope-column",
    "loadscope-diagnose",
    "loadscope-trace",
    "loadscope-plan",
    "loadscope-insight",
    "loadscope-lessons",
    "loadscope-model",
    "loadscope-ui",
    "loadscope-window",
    "loadscope-web",
];

/// Debian packages: a compiler, cargo, the sources of the standard library, and a linker.
const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "lld"];

/// Oldest supported compiler, as in `Cargo.toml`.
const OLDEST: (u32, u32) = (1, 95);

/// Compiler for a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compiler {
    /// The current toolchain of rustup, which has the target.
    Rustup,
    /// Debian's compiler, which has the sources of the standard library.
    Debian,
}

/// Installs a compiler for a browser if there is none.
pub fn setup() -> Result<()> {
    if let Some(found) = find() {
        eprintln!("A compiler for the browser is there: {}.", name(found));
        return Ok(());
    }
    let rustup = Command::new("rustup")
        .args(["target", "add", TARGET])
        .current_dir(workspace())
        .status();
    if rustup.is_ok_and(|status| status.success()) && find().is_some() {
        return Ok(());
    }
    for arguments in [
        vec!["update"],
        [&["install", "-y", "--no-install-recommends"], &PACKAGES[..]].concat(),
    ] {
        let status = Command::new("apt-get")
            .args(&arguments)
            .status()
            .context("neither rustup nor apt-get can install a compiler for the browser")?;
        if !status.success() {
            bail!(
                "apt-get {} failed. Install {} yourself, or run `rustup target add {TARGET}`",
                arguments.join(" "),
                PACKAGES.join(", ")
            );
        }
    }
    match find() {
        Some(found) => eprintln!("Ready: {}.", name(found)),
        None => bail!(
            "The packages are installed, but their compiler is older than Rust {}.{}. Run `rustup target add {TARGET}`",
            OLDEST.0,
            OLDEST.1
        ),
    }
    Ok(())
}

/// Checks that the crates compile for a browser. Prints a message and succeeds if no compiler for a browser is installed.
pub fn check(ready: &Ready) -> Result<u8> {
    let Some(mut command) = compiler("check") else {
        eprintln!(
            "NOT CHECKED: there is no compiler for {TARGET}. `cargo xtask setup --web` installs one."
        );
        return Ok(0);
    };
    command
        .args(["--target", TARGET])
        .args(CRATES.iter().flat_map(|name| ["-p", name]))
        .env("CARGO_TARGET_DIR", ready.target.join("web"))
        .env("RUSTFLAGS", "-D warnings")
        .current_dir(workspace());
    let status = command.status().context("cannot start cargo")?;
    Ok(status
        .code()
        .map_or(1, |code| u8::try_from(code).unwrap_or(1)))
}

/// Prepares a cargo that compiles for a browser, if there is one.
fn compiler(what: &str) -> Option<Command> {
    Some(match find()? {
        Compiler::Rustup => {
            let mut command = Command::new("cargo");
            command.arg(what);
            command
        }
        Compiler::Debian => {
            let mut command = Command::new("/usr/bin/cargo");
            command
                .env("RUSTC", "/usr/bin/rustc")
                // The standard library is compiled from its sources. Released compilers allow this only with RUSTC_BOOTSTRAP.
                .env("RUSTC_BOOTSTRAP", "1")
                .env_remove("RUSTUP_TOOLCHAIN")
                .args([what, "-Z", "build-std=std,panic_abort"]);
            command
        }
    })
}

fn name(compiler: Compiler) -> &'static str {
    match compiler {
        Compiler::Rustup => "that of rustup",
        Compiler::Debian => "Debian's",
    }
}

fn find() -> Option<Compiler> {
    let targets = output("rustup", &["target", "list", "--installed"]);
    if targets.is_some_and(|all| all.lines().any(|line| line.trim() == TARGET)) {
        return Some(Compiler::Rustup);
    }
    let version = output("/usr/bin/rustc", &["--version"])?;
    let is_there = |path: &str| Path::new(path).exists();
    let complete = is_there("/usr/bin/cargo") && is_there("/usr/bin/wasm-ld");
    (complete && is_new(&version)).then_some(Compiler::Debian)
}

/// Returns true if a compiler with this version string is new enough.
fn is_new(version: &str) -> bool {
    let Some(numbers) = version.strip_prefix("rustc ") else {
        return false;
    };
    let mut parts = numbers.split('.').map(|part| part.parse::<u32>());
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= OLDEST,
        _ => false,
    }
}

/// Returns the output of a command, if it exists and succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(workspace())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_compiler_is_refused() {
        assert!(is_new(
            "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"
        ));
        assert!(is_new("rustc 2.0.1"));
        assert!(!is_new("rustc 1.85.0 (4d91de4e4 2025-02-17)"));
        assert!(!is_new("1.96.0") && !is_new("rustc unknown"));
    }
}
