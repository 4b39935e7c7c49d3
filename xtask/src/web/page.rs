//! The page that is the window in a browser, in one file: `cargo xtask web`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use lzma_rust2::{LzmaOptions, LzmaWriter};
use sha2::{Digest as _, Sha256};

use super::digits;
use super::{TARGET, compiler, output};
use crate::setup::workspace;
use crate::steps;

/// Maximum size of the page without a recording, bytes.
const LARGEST: usize = 3_000_000;

/// Compiled crate.
const CRATE: &str = "loadscope-web";

/// Name of the compiled library.
const LIBRARY: &str = "loadscope_web";

/// Options of the page.
#[derive(Args, Debug)]
pub struct Options {
    /// Test the page in a headless Chromium, write tests/web/RESULTS.md. Builds the program without the embedded loader
    #[arg(long = "try")]
    tries: bool,
    /// Keep the screenshots of the test in this folder
    #[arg(long, value_name = "FOLDER", requires = "tries")]
    pictures: Option<PathBuf>,
}

/// Code of the bindings that determines their own address. The page contains everything, so it does not need the address. In a frame of a
/// notebook, which has no address, this code would fail.
const OWN_ADDRESS: &str =
    "script_src = new URL(document.currentScript.src, location.href).toString();";

/// Builds the page, and tests it with `--try`.
pub fn run(target: &Path, options: &Options) -> Result<u8> {
    let status = build(target)?;
    if status != 0 || !options.tries {
        return Ok(status);
    }
    let mut test = Command::new("cargo");
    test.args([
        "test",
        "-p",
        "loadscope",
        "--no-default-features",
        "--test",
        "integration",
        "--",
        "web::",
        "--nocapture",
    ])
    .env(
        "LOADSCOPE_WEB_RESULTS",
        workspace().join("tests/web/RESULTS.md"),
    )
    .current_dir(workspace());
    if let Some(pictures) = &options.pictures {
        test.env("LOADSCOPE_WEB_PICTURES", std::path::absolute(pictures)?);
    }
    steps::finish(&mut test)
}

/// Builds the page, prints its size, and writes it to the file that the program includes.
pub fn build(target: &Path) -> Result<u8> {
    let began = Instant::now();
    let folder = target.join("page");
    let bindgen = bindgen(target)?;
    let Some(mut cargo) = compiler("build") else {
        bail!("There is no compiler for {TARGET}. `cargo xtask setup --web` installs one");
    };
    cargo
        .args(["--profile", "web", "--target", TARGET, "-p", CRATE])
        .env("CARGO_TARGET_DIR", &folder)
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker())
        .env_remove("RUSTFLAGS")
        .current_dir(workspace());
    let status = steps::finish(&mut cargo)?;
    if status != 0 {
        return Ok(status);
    }
    let wasm = folder.join(TARGET).join("web").join(LIBRARY);
    let out = folder.join("bindings");
    let mut command = Command::new(&bindgen);
    command
        .args([
            "--target",
            "no-modules",
            "--no-typescript",
            "--remove-name-section",
        ])
        .args(["--remove-producers-section", "--out-dir"])
        .arg(&out)
        .arg(wasm.with_extension("wasm"));
    let status = steps::finish(&mut command)?;
    if status != 0 {
        return Ok(status);
    }
    let page = assembled(&out)?;
    let place = workspace().join("app/web/page/built.html");
    fs::write(&place, &page).with_context(|| format!("cannot write {}", place.display()))?;
    eprintln!(
        "{}: {:.2} MB, in {} s",
        place.display(),
        page.len() as f64 / 1e6,
        began.elapsed().as_secs()
    );
    if page.len() > LARGEST {
        bail!("The page is larger than {:.1} MB", LARGEST as f64 / 1e6);
    }
    Ok(0)
}

/// Assembles the page. The program later fills in the placeholders `@REPORT@`, `@ABOUT@`, `@RECORDING@` and `@CONNECT@`.
fn assembled(bindings: &Path) -> Result<String> {
    let read = |path: PathBuf| {
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let sources = workspace().join("app/web/page");
    let (template, style) = (
        read(sources.join("template.html"))?,
        read(sources.join("style.css"))?,
    );
    let bindings_script = read(bindings.join(format!("{LIBRARY}.js")))?;
    if !bindings_script.contains(OWN_ADDRESS) {
        bail!("wasm-bindgen finds its own address in another way than before: see OWN_ADDRESS");
    }
    let script = bindings_script.replace(OWN_ADDRESS, "")
        + &read(sources.join("unpack.js"))?
        + &read(sources.join("page.js"))?;
    // No string of the scripts spans lines in a way that this would change.
    let script = unindented(&script);
    for (what, text) in [("script", &script), ("style", &style)] {
        // The browser would take this for the end of the element.
        if text.to_ascii_lowercase().contains(&format!("</{what}")) || text.contains("<!--") {
            bail!("The {what} of the page contains its own end tag");
        }
        // Another encoding, from a server or a frame, would change such characters. Then the content security policy would refuse the text.
        if !text.is_ascii() {
            bail!("The {what} of the page contains characters that are not ASCII");
        }
    }
    let wasm = fs::read(bindings.join(format!("{LIBRARY}_bg.wasm")))
        .context("wasm-bindgen has written no wasm")?;
    let packed = packed(&wasm)?;
    eprintln!(
        "wasm: {:.2} MB, {:.2} MB compressed",
        wasm.len() as f64 / 1e6,
        packed.len() as f64 / 1e6
    );
    let mut page = template;
    for (place, text) in [
        ("@SCRIPT_HASH@", hash(&script)),
        ("@STYLE_HASH@", hash(&style)),
        ("@STYLE@", style),
        ("@BYTES@", packed.len().to_string()),
        ("@PROGRAM@", digits::text(&packed)),
        ("@SCRIPT@", script),
    ] {
        if page.matches(place).count() != 1 {
            bail!("{place} must occur exactly once in app/web/page/template.html");
        }
        page = page.replacen(place, &text, 1);
    }
    for place in ["@REPORT@", "@ABOUT@", "@RECORDING@", "@CONNECT@"] {
        if page.matches(place).count() != 1 {
            bail!("{place} must occur exactly once in the page");
        }
    }
    Ok(page)
}

/// Compresses bytes in the format that `app/web/page/unpack.js` reads.
fn packed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut options = LzmaOptions::with_preset(9);
    options.nice_len = LzmaOptions::NICE_LEN_MAX;
    // WebAssembly instructions have variable lengths, so their position means little, but the preceding byte means much.
    (options.lc, options.lp, options.pb) = (4, 0, 0);
    // The dictionary is at least as long as the program, so that the search for repetitions covers the whole program.
    options.dict_size = u32::try_from(bytes.len().next_power_of_two())?;
    let size = u64::try_from(bytes.len())?;
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(size))
        .context("the program cannot be compressed")?;
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}

/// Returns the script without indentation, comments and empty lines.
fn unindented(script: &str) -> String {
    let lines = script.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    // Comments of the bindings have separate lines.
    let mut in_comment = false;
    let mut out = String::with_capacity(script.len());
    for line in lines {
        in_comment |= line.starts_with("/**");
        if !in_comment {
            out.push_str(line);
            out.push('\n');
        }
        in_comment &= !line.ends_with("*/");
    }
    out
}

/// Returns the hash for a Content-Security-Policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// Returns the linker for a browser. rustup's toolchains contain one.
fn linker() -> &'static str {
    match Path::new("/usr/bin/wasm-ld").exists() {
        true => "/usr/bin/wasm-ld",
        false => "rust-lld",
    }
}

/// Folder in which xtask installs wasm-bindgen.
fn root(target: &Path) -> PathBuf {
    target.join("web-tools")
}

/// Returns the version of wasm-bindgen in Cargo.lock. The program must have the same version.
fn version() -> Result<String> {
    let lock =
        fs::read_to_string(workspace().join("Cargo.lock")).context("there is no Cargo.lock")?;
    let mut lines = lock.lines();
    lines.find(|line| *line == "name = \"wasm-bindgen\"");
    let version = lines
        .next()
        .and_then(|line| line.strip_prefix("version = \""));
    let version = version.and_then(|rest| rest.strip_suffix('"'));
    version
        .map(str::to_owned)
        .context("wasm-bindgen is not in Cargo.lock")
}

/// Finds a wasm-bindgen of that version.
fn bindgen(target: &Path) -> Result<PathBuf> {
    let wanted = version()?;
    let own = root(target).join("bin/wasm-bindgen");
    let named = std::env::var_os("WASM_BINDGEN").map(PathBuf::from);
    let all = named
        .into_iter()
        .chain([own, PathBuf::from("wasm-bindgen")]);
    for program in all {
        let said = output(&program.to_string_lossy(), &["--version"]);
        if said.is_some_and(|said| said.split_whitespace().nth(1) == Some(&wanted)) {
            return Ok(program);
        }
    }
    bail!(
        "There is no wasm-bindgen {wanted}, of the version in Cargo.lock. `cargo xtask setup --web` installs one; one that is elsewhere is \
         named by WASM_BINDGEN"
    )
}

/// Installs wasm-bindgen if no program of that version exists.
pub fn install(target: &Path) -> Result<()> {
    if bindgen(target).is_ok() {
        return Ok(());
    }
    let wanted = version()?;
    let mut cargo = Command::new("cargo");
    // Without the lock file, because one of its versions may be newer than the registry's.
    cargo
        .args(["install", "wasm-bindgen-cli", "--version", &wanted])
        .args(["--no-default-features", "--root"])
        .arg(root(target));
    match steps::finish(&mut cargo)? {
        0 => Ok(()),
        _ => bail!("wasm-bindgen {wanted} could not be installed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_hash_matches_the_published_example() {
        assert_eq!(
            hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
    }

    /// Script that unpacks a file into another one.
    const UNPACK: &str = "const fs = require('fs'); const packed = new Uint8Array(fs.readFileSync(process.argv[1])); \
                          fs.writeFileSync(process.argv[2], loadscopeUnpack(packed));";

    /// Tests the browser's script with short and long, close and distant repetitions, and with noise.
    #[test]
    #[allow(clippy::print_stderr, reason = "a test says what it did not run")]
    fn the_page_script_unpacks_packed_bytes() {
        let Some(version) = output("node", &["--version"]) else {
            eprintln!("NOT RUN: there is no node to run the script of the page with");
            return;
        };
        let mut noise = 7u32;
        let mut random = |most: u32| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (noise >> 8) % most
        };
        let mut bytes = b"A page that repeats itself, itself, itself.".to_vec();
        while bytes.len() < 600_000 {
            match random(4) {
                0 => bytes.extend((0..random(40)).map(|_| random(256) as u8)),
                1 => bytes.extend(vec![random(256) as u8; random(700) as usize]),
                _ => {
                    let back = random(bytes.len() as u32) as usize + 1;
                    let from = bytes.len() - back;
                    let until = (from + random(300) as usize).min(bytes.len());
                    bytes.extend_from_within(from..until);
                }
            }
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = |name: &str| folder.path().join(name);
        let script = include_str!("../../../app/web/page/unpack.js");
        for bytes in [&bytes[..], &bytes[..1], b""] {
            fs::write(file("packed"), packed(bytes).expect("a vector")).expect("a new file");
            let status = Command::new("node")
                .args(["-e", &format!("{script}\n{UNPACK}")])
                .args([file("packed"), file("unpacked")])
                .status();
            assert!(
                status.is_ok_and(|status| status.success()),
                "node {version}"
            );
            assert!(fs::read(file("unpacked")).expect("it was written") == bytes);
        }
    }

    #[test]
    fn shortening_a_script_keeps_its_code() {
        let script =
            "/**\n * Words.\n */\n  let a = 1; // one\n\n  // two\n  /* @ts-ignore */ f(a);\n";
        assert_eq!(
            unindented(script),
            "let a = 1; // one\n/* @ts-ignore */ f(a);\n"
        );
    }

    #[test]
    fn the_version_is_read_from_the_lock_file() {
        let version = version().unwrap_or_default();
        assert_eq!(version.split('.').count(), 3, "{version}");
    }
}
