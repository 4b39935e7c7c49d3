//! Copies a recording that grows, in a process of its own: what it takes for that is not what the recorder takes.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use loadscope_trace::{Compression, Heading, LogReader, LogWriter};

use crate::recorder::NAME;

/// Starts a process that copies the recording in `folder`.
///
/// # Errors
/// If the system gives none.
pub fn start(folder: &Path) -> Result<Child> {
    let started = Command::new(std::env::current_exe()?)
        .arg("part=copy")
        .arg(format!("folder={}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    started.context("this program cannot be started once more")
}

/// Writes what can be read of the recording in `folder` to a file, and removes that again.
///
/// # Errors
/// If it cannot be read or written.
pub fn run(folder: &Path) -> Result<()> {
    // Not beside the recording, to whose files it does not belong.
    let to = folder.with_extension("copy");
    let file = File::create(&to).with_context(|| to.display().to_string())?;
    let copied = copied(&folder.join(NAME), file);
    fs::remove_file(&to).with_context(|| to.display().to_string())?;
    copied.with_context(|| format!("{} cannot be copied while it grows", folder.display()))
}

fn copied(from: &Path, to: File) -> Result<()> {
    let reader = LogReader::open(from)?;
    let mut log = LogWriter::headed(to, Compression::Zstd, Heading::Limited)?;
    for event in reader {
        log.write(&event?)?;
    }
    log.finish()?;
    Ok(())
}
