//! The site: the documentation and interactive recordings in one static folder. It works from disk and from any file server.

mod chapters;
mod links;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::setup::{Ready, workspace};
use crate::{python, pytorch, steps};
use chapters::{CHAPTERS, Chapter};

/// Options of the site.
#[derive(Args, Debug)]
pub struct Options {
    /// Output folder [default: target/site]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Use this Loadscope executable, built after `cargo xtask web`, instead of building one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Open every page in a headless Chromium, from disk and from a file server
    #[arg(long = "try")]
    tries: bool,
}

/// Generator of the documentation from Markdown.
const MDBOOK: &str = "mdbook";

/// Folder of the recordings that the site shows.
const RECORDINGS: &str = "assets/lessons/cases";
/// Maximum number of recordings.
const MOST_RECORDINGS: usize = 3;

/// Writes the site and checks its links. Returns 1 if a link is broken.
pub fn run(ready: &Ready, options: &Options) -> Result<u8> {
    let out = (options.out.clone()).unwrap_or_else(|| ready.target.join("site"));
    let source = ready.target.join("site-source");
    for folder in [&out, &source] {
        if folder.is_dir() {
            fs::remove_dir_all(folder)
                .with_context(|| format!("cannot empty {}", folder.display()))?;
        }
    }
    fs::create_dir_all(source.join("src"))?;
    let recordings = recordings()?;
    write_chapters(&source.join("src"), &recordings)?;
    fs::write(source.join("book.toml"), BOOK)?;
    let mut mdbook = Command::new(mdbook(ready)?);
    mdbook.arg("build").arg(&source).arg("--dest-dir").arg(&out);
    if steps::finish(&mut mdbook)? != 0 {
        bail!("cargo doc failed. Its errors are above.");
    }
    share(ready, options, &recordings, &out)?;
    let broken = links::broken(&out)?;
    for line in &broken {
        eprintln!("{line}");
    }
    eprintln!("{}: {} broken links", out.display(), broken.len());
    if options.tries && broken.is_empty() {
        let mut open = Command::new(python::find()?);
        open.arg(workspace().join("tests/web/site.py")).arg(&out);
        return steps::finish(&mut open);
    }
    Ok(u8::from(!broken.is_empty()))
}

const BOOK: &str = r#"[book]
title = "Loadscope"
language = "en"

[output.html]
default-theme = "light"
preferred-dark-theme = "navy"
no-section-label = true
"#;

/// Returns the path of mdbook. Installs it if necessary.
fn mdbook(ready: &Ready) -> Result<PathBuf> {
    if pytorch::runs(Command::new(MDBOOK).arg("--version")) {
        return Ok(MDBOOK.into());
    }
    let tools = ready.target.join("tools");
    let own = tools.join("bin").join(MDBOOK);
    if !own.exists() {
        eprintln!("Building {MDBOOK}, once");
        let mut install = steps::cargo(ready, &["install", MDBOOK, "--locked", "--root"]);
        install.arg(&tools);
        if steps::finish(&mut install)? != 0 {
            bail!("The build of {MDBOOK} failed. Its errors are above.");
        }
    }
    Ok(own)
}

/// Returns the recordings that the site shows.
fn recordings() -> Result<Vec<PathBuf>> {
    let folder = workspace().join(RECORDINGS);
    let entries =
        fs::read_dir(&folder).with_context(|| format!("{} is not there", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".jsonl.zst"))
        .collect();
    files.sort();
    // Only one recording per program: `few_workers_0` and `few_workers_1` have the same one.
    files.dedup_by_key(|path| program_of(path));
    files.truncate(MOST_RECORDINGS);
    Ok(files)
}

fn program_of(recording: &Path) -> String {
    let name = name_of(recording);
    name.trim_end_matches(|c: char| c == '_' || c.is_ascii_digit())
        .to_owned()
}

fn name_of(recording: &Path) -> String {
    let name = recording.file_name().unwrap_or_default().to_string_lossy();
    name.trim_end_matches(".jsonl.zst").to_owned()
}

/// Writes the chapters with links to each other, and the table of contents.
fn write_chapters(folder: &Path, recordings: &[PathBuf]) -> Result<()> {
    let mut list = "# Loadscope\n\n".to_owned();
    for chapter in CHAPTERS {
        match chapter {
            Chapter::Part(title) => list += &format!("\n# {title}\n\n"),
            Chapter::Page { title, file } => {
                let from = workspace().join(file);
                let text = fs::read_to_string(&from)
                    .with_context(|| format!("cannot read {}", from.display()))?;
                let to = folder.join(chapters::placed(file));
                if let Some(parent) = to.parent() {
                    fs::create_dir_all(parent)?;
                }
                fs::write(&to, links::rewrite_links(&text, file, folder)?)?;
                list += &format!("- [{title}]({})\n", chapters::placed(file));
            }
        }
    }
    list += "- [Recordings in the window](recordings.md)\n";
    let mut page = "# Recordings in the window\n\nEach opens in this browser, as the window on a desktop: step with the arrow keys, \
                    `N` goes to the next wait, `3` says why. Nothing is sent anywhere.\n\n"
        .to_owned();
    for recording in recordings {
        let name = name_of(recording);
        page += &format!("- [{name}](recordings/{name}.html), a training of PyTorch\n");
    }
    fs::write(folder.join("recordings.md"), page)?;
    fs::write(folder.join("SUMMARY.md"), list)?;
    Ok(())
}

/// Writes one page per recording.
fn share(ready: &Ready, options: &Options, recordings: &[PathBuf], out: &Path) -> Result<()> {
    let program = match &options.program {
        Some(own) => own.clone(),
        None => {
            let arguments = ["build", "--release", "--package", "loadscope"];
            if steps::finish(&mut steps::cargo(ready, &arguments))? != 0 {
                bail!("The build of the program failed. Its errors are above.");
            }
            ready.target.join("release/loadscope")
        }
    };
    fs::create_dir_all(out.join("recordings"))?;
    for recording in recordings {
        let page = out
            .join("recordings")
            .join(format!("{}.html", name_of(recording)));
        let mut share = Command::new(&program);
        share.arg("share").arg(recording).arg("-o").arg(&page);
        pytorch::succeed(&mut share, "A recording could not be made a page")?;
    }
    Ok(())
}
