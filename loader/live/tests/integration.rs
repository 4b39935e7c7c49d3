//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod any;
mod endings;
mod join;
mod listen;
mod quota;
mod shared_files;
mod steps;
mod strangers;
mod stream;
