//! Stacks and waits of the processes of a running PyTorch program, and the cause of a hang.
//!
//! [`Snapshot::take`] reads a process and its descendants from outside: the Python stacks from their memory, the states and system calls from
//! `/proc`. No process is stopped. [`Analysis::of`] connects the waits and names the [`Cause`] of a hang.

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

mod analysis;
mod cause;
mod deadlock;
mod error;
mod graph;
mod lock;
mod process;
mod sampler;
mod snapshot;
#[cfg(target_os = "linux")]
mod system;
mod take;
mod wait;
mod wording;

pub use analysis::Analysis;
pub use cause::{Cause, Finding};
pub use error::StacksError;
pub use process::{Ending, Frame, Node, Process, Python, Role, State, Thread, ThreadRole};
pub use sampler::{NodeId, Sampler, Samples, StackNode, StackSamples};
pub use snapshot::{SharedMemory, Snapshot};
pub use wait::{Descriptor, Direction, Resource, Wait};
pub use wording::{capitalized, node_text, process_list, process_name, thread_name, wait_text};

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
