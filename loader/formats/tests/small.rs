//! Small files made by hand: what is read of them is known without any other program.
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod common;

#[path = "small/arrays.rs"]
mod arrays;
