//! Includes the window in a browser where `cargo xtask web` has made it. Without it everything else works.

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
    // The folder, as the page comes and goes.
    println!("cargo::rerun-if-changed={}", folder.display());
    let text = match page.is_file() {
        true => format!("Some(include_str!({:?}))", page.canonicalize()?),
        false => "None".to_owned(),
    };
    fs::write(Path::new(&env::var("OUT_DIR")?).join("page.rs"), text)?;
    Ok(())
}
