//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod cases;
mod goals;
mod lessons;
mod mistakes;
mod play;
mod pytorch;
mod quiz;
