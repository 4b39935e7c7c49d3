//! Small handmade files with known values, for tests without another program.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod common;

#[path = "small/arrays.rs"]
mod arrays;
#[path = "small/columns.rs"]
mod columns;
