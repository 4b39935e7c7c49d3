//! Includes the browser page if `cargo xtask web` has built it. A build without the page lacks nothing else.

#![allow(clippy::print_stdout, reason = "it speaks to cargo")]
#![allow(
    clippy::disallowed_methods,
    reason = "it writes into the folder that cargo gives it"
)]

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../web/page");
    let page = folder.join("built.html");
    // The folder is watched, because the page may be created or removed.
    println!("cargo::rerun-if-changed={}", folder.display());
    let text = match page.is_file() {
        true => format!("Some(include_str!({:?}))", page.canonicalize()?),
        false => "None".to_owned(),
    };
    fs::write(Path::new(&env::var("OUT_DIR")?).join("page.rs"), text)?;
    Ok(())
}
