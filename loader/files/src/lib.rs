//! File access: only this crate opens, creates and replaces files for Loadscope.
//!
//! - [`NewFile`] writes a complete file or none: an export, a report, a picture, the preferences.
//! - [`NewFolder`] writes a complete folder or none: an export of several tables.
//! - [`GrowingFile`] writes a file that is readable while it grows: a recording.
//! - [`TemporaryFolder`] is removed at the end, or by the next start if this process is killed. [`unnamed_file`] needs no removal.
//! - [`open_regular`] and [`read_text`] open files of other programs. They do not wait for a pipe without a writer, and do not read
//!   endless devices.
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

pub use atomic::{NewFile, NewFolder, sweep_folder};
pub use error::{ReadError, WriteError};
pub use folder::{
    file_for_others, new_folder, new_folder_in, private_file_for_others, private_folder,
};
pub use growing::GrowingFile;
pub use input::{Input, open_input, open_regular, read_bytes, read_text};
pub use kernel::is_of_kernel;
pub use limit::survive_size_limit;
pub use lock::{is_abandoned, is_being_written};
pub use target::{Existing, refuse_input};
pub use temporary::{TemporaryFolder, unnamed_file};

/// Compiles and runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
