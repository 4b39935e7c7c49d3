//! Describes errors at the start of a program.

use std::ffi::OsString;
use std::{fmt, io};

use loadscope_words::{explain, say};

/// Error at the start of a program.
#[derive(Debug)]
pub enum ProgramError {
    /// The folder for the probe or the socket cannot be created.
    Preparing(io::Error),
    /// The program cannot be started.
    Starting(OsString, io::Error),
    /// The recorder has too little memory.
    Memory,
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str(say!(
                "recording needs 128 MB of memory, but less is available. Free memory, or raise the limit of the address space (ulimit -v)."
            )),
            Self::Preparing(e) => {
                let remedy = match e.kind() {
                    io::ErrorKind::FileTooLarge => {
                        say!("Allow files of at least 256 kB (ulimit -f)")
                    }
                    _ => say!("Set TMPDIR to a writable folder"),
                };
                f.write_str(&say!(
                    "cannot prepare a folder for the probe in {e}. {remedy}."
                ))
            }
            Self::Starting(name, _) if name.is_empty() => {
                write!(
                    f,
                    "{}",
                    say!("cannot start a program without a name. Name it after --.")
                )
            }
            Self::Starting(name, e) if e.kind() == io::ErrorKind::NotFound => write!(
                f,
                "{}",
                say!(
                    "cannot start {}: not found. Check the name and PATH.",
                    name.to_string_lossy()
                )
            ),
            // For a folder, the system's error is a misleading "permission denied".
            Self::Starting(name, _) if std::path::Path::new(name).is_dir() => write!(
                f,
                "{}",
                say!(
                    "cannot start {}: it is a folder. Name a program.",
                    name.to_string_lossy()
                )
            ),
            Self::Starting(name, e) => write!(
                f,
                "{}",
                say!(
                    "cannot start {}: {e}",
                    name.to_string_lossy(),
                    e = explain(e)
                )
            ),
        }
    }
}

impl std::error::Error for ProgramError {}
