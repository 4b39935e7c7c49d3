//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod corpus;
mod faults;

use std::sync::{Mutex, PoisonError};

use loadscope_fuzz::{Bounds, ResourceUse, Target};

/// Runs the target with the input. One runs at a time, because the measured memory is that of the whole process.
fn run_within_bounds(target: &Target, bytes: &[u8]) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    Bounds::LENIENT.check(ResourceUse::measure(|| (target.run)(bytes, true)));
}
