//! Small files made by hand: what is read of them is known without any other program.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(clippy::print_stdout, reason = "a measurement")]

mod common;

#[path = "small/arrays.rs"]
mod arrays;
#[path = "small/columns.rs"]
mod columns;
