//! Fuzz targets for untrusted input, as functions of bytes. Each [`Target`] goes from the bytes to the queries of a user, and panics on
//! an error.
//! libFuzzer generates bytes (`cargo xtask fuzz`). The tests replay the stored inputs.
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

pub use bounds::{Bounds, ResourceUse};
pub use corpus::{Input, corpus};
pub use target::{TARGETS, Target, fleet_events};

/// Returns a hash of the bytes. A rare check that depends on it runs for the same inputs every time.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
