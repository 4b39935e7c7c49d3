//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod browser;
mod deadline;
mod download;
mod profile;
