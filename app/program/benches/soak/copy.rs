//! Copies a growing recording in its own process, so that its memory is not counted for the recorder.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use loadscope_trace::{Compression, LogReader, LogWriter, RecordingKind};

use crate::recorder::NAME;

/// Starts a process that copies the recording in `folder`.
///
/// # Errors
/// If the process cannot be started.
pub fn start(folder: &Path) -> Result<Child> {
    let started = Command::new(std::env::current_exe()?)
        .arg("part=copy")
        .arg(format!("folder={}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    started.context("this program cannot be started once more")
}

/// Writes the readable part of the recording in `folder` to a file, and removes that file.
///
/// # Errors
/// If the recording cannot be read or copied.
pub fn run(folder: &Path) -> Result<()> {
    // The copy is outside the folder, because it is not part of the recording.
    let to = folder.with_extension("copy");
    let file = File::create(&to).with_context(|| to.display().to_string())?;
    let copied = copied(&folder.join(NAME), file);
    fs::remove_file(&to).with_context(|| to.display().to_string())?;
    copied.with_context(|| format!("{} cannot be copied while it grows", folder.display()))
}

fn copied(from: &Path, to: File) -> Result<()> {
    let reader = LogReader::open(from)?;
    let mut log = LogWriter::with_header(to, Compression::Zstd, RecordingKind::Limited)?;
    for event in reader {
        log.write(&event?)?;
    }
    log.finish()?;
    Ok(())
}
