//! Hears what the probe tells in the processes of a PyTorch program, and makes events of it.
//!
//! Every process of the program writes a stream of its own (`WIRE.md`): to a socket of this host, or to a file. A worker does not
//! know which batch it fetches, only how many it has fetched; [`Join`] puts the streams together. [`Listener`] takes the
//! streams from sockets, [`folder`] from files, [`Program`] starts a program so that its processes find the socket.
//! No window, no engine.

loadscope_words::catalogs!();

mod attach;
pub mod folder;
#[allow(unsafe_code, reason = "a system call")]
mod gauges;
mod join;
mod listen;
mod program;
mod remote;
mod request;
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

pub use attach::{AttachError, Silent};
pub use gauges::Gauges;
pub use join::{Effects, Join, Process, StreamId};
pub use listen::{Listener, Said};
pub use program::{Address, Attach, End, Output, Program, ProgramError};
pub use remote::{NoHost, Remote, SSH};
pub use request::{Request, Stop};
pub use signals::{
    at_exit, end_at_once, end_by, ending_signals, give_signals_back, take_ending_signals,
    take_signals,
};
pub use unrecorded::{Lookout, Unrecorded, Why};
pub use wire::{Introduction, Record, WireError};

/// The probe, as `loadscope probe` prints it.
pub const PROBE: &str = include_str!("../../../assets/probe/loadscope_probe.py");

/// Brings the probe into programs that were started with its folder in `PYTHONPATH`.
const SITECUSTOMIZE: &str = include_str!("../../../assets/probe/sitecustomize.py");

/// Variables of the environment through which a program learns where to tell.
mod variable {
    pub const TO: &str = "LOADSCOPE_PROBE_TO";
    pub const TOKEN: &str = "LOADSCOPE_PROBE_TOKEN";
    pub const PREVIEWS: &str = "LOADSCOPE_PROBE_PREVIEWS";
    pub const DIGESTS: &str = "LOADSCOPE_PROBE_DIGESTS";
    pub const SET: &str = "LOADSCOPE_PROBE_SET";
    pub const STOP: &str = "LOADSCOPE_PROBE_STOP";
}

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
