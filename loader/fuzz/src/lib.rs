//! What strangers may hand to Loadscope, as functions of bytes. Each [`Target`] goes the whole way from the bytes to what a user asks
//! of the run, and panics if something is wrong on it. libFuzzer makes up bytes (`cargo xtask fuzz`); the tests replay those that
//! were worth keeping.
#![allow(
    clippy::disallowed_methods,
    reason = "hostile files are made in a temporary folder of its own"
)]
#![allow(
    clippy::expect_used,
    reason = "what is not as it should be ends the test"
)]

#[expect(
    unsafe_code,
    reason = "an allocator that counts, and the clock of a thread"
)]
mod bounds;
mod corpus;
mod examine;
mod scratch;
mod target;

pub use bounds::{Bounds, Spent};
pub use corpus::{Input, corpus};
pub use target::{TARGETS, Target, fleet_events};

/// A number that the bytes decide, so that what is done with one input in so many is done with the same ones every time.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
