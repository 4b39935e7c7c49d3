//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod exports;
mod exports_whole;
mod hostile;
mod imports;
mod names;
mod sqlite;
mod stacks;
mod support;
