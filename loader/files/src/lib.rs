//! File access: only this crate opens, creates and replaces files for Loadscope.
//!
//! - [`AtomicFile`] writes a complete file or none: an export, a report, an image, the preferences.
//! - [`AtomicFolder`] writes a complete folder or none: an export of several tables.
//! - [`GrowingFile`] writes a file that is readable while it grows: a recording.
//! - [`TemporaryFolder`] is removed at the end, or by the next start if this process is killed. [`unnamed_file`] needs no removal.
//! - [`open_regular`] and [`read_text`] open files of other programs. These functions do not wait for a pipe without a writer, and do not
//!   read endless devices.
//!
//! An existing file is replaced only on request ([`Existing::Replace`]), and only by a complete one.
//! A symbolic link is replaced, never followed. Devices and pipes are written, never replaced.
//! A file that another process is recording to is locked and refused.

loadscope_words::catalogs!();

mod atomic;
mod error;
mod folder;
mod growing;
mod input;
#[allow(unsafe_code, reason = "a system call")]
mod kernel;
#[allow(unsafe_code, reason = "a handler of a signal")]
mod limit;
mod lock;
mod stream;
mod target;
mod temporary;

pub use atomic::{AtomicFile, AtomicFolder, sweep_folder};
pub use error::{ReadError, WriteError};
pub use folder::{
    create_file_for_process, create_free_folder, create_private_file_for_process, new_folder,
    private_folder,
};
pub use growing::GrowingFile;
pub use input::{Input, open_input, open_regular, read_bytes, read_text};
pub use kernel::is_on_virtual_filesystem;
pub use limit::ignore_file_size_signal;
pub use lock::{has_writer, is_abandoned, is_being_written};
pub use target::{Existing, check_not_input};
pub use temporary::{TemporaryFolder, unnamed_file};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
