//! Receiver of the probe's events from the processes of a PyTorch program.
//!
//! Each process sends its own stream (`WIRE.md`), to a socket on this host or to a file. A worker does not know which batch it fetches,
//! only the number of its fetches. [`Join`] merges the streams and assigns the fetches to batches. [`Listener`] receives streams from
//! a socket, and [`folder`] reads them from files. [`Program`] starts a program whose processes load the probe and connect to the socket.
//! This crate has no engine and no window.

loadscope_words::catalogs!();

mod attach;
pub mod folder;
mod gauges;
mod join;
mod listen;
mod program;
mod remote;
mod request;
mod shared_files;
#[allow(unsafe_code, reason = "signals, and how a process ends")]
mod signals;
#[cfg(unix)]
#[allow(
    unsafe_code,
    reason = "descriptors before main, and in a child before exec"
)]
mod streams;
mod unrecorded;
mod wire;

pub use attach::{AttachError, UnattachableReason};
pub use gauges::Gauges;
pub use join::{Effects, Join, Process, StreamId};
pub use listen::{Listener, Warning};
pub use program::{Address, Attach, End, Output, Program, ProgramError};
pub use remote::{InvalidHost, Remote, SSH};
pub use request::{Request, Stop};
pub use shared_files::SharedFiles;
pub use signals::{
    at_exit, catch_signals, catch_termination_signals, exit_by_signal, exit_immediately,
    restore_signals, termination_signals,
};
pub use unrecorded::{Unrecorded, UnrecordedReason, UnrecordedScanner};
pub use wire::{Introduction, Record, WireError};

/// Source of the probe, as `loadscope probe` prints it.
pub const PROBE: &str = include_str!("../../../assets/probe/loadscope_probe.py");

/// Source of `sitecustomize.py`. Python imports it at startup if its folder is in `PYTHONPATH`, and it imports the probe.
const SITECUSTOMIZE: &str = include_str!("../../../assets/probe/sitecustomize.py");

/// Environment variables that configure the probe.
mod variable {
    pub const TO: &str = "LOADSCOPE_PROBE_TO";
    pub const TOKEN: &str = "LOADSCOPE_PROBE_TOKEN";
    pub const PREVIEWS: &str = "LOADSCOPE_PROBE_PREVIEWS";
    pub const DIGESTS: &str = "LOADSCOPE_PROBE_DIGESTS";
    pub const SET: &str = "LOADSCOPE_PROBE_SET";
    pub const STOP: &str = "LOADSCOPE_PROBE_STOP";
}

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
