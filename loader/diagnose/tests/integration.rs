//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

#[path = "../../trace/tests/any/mod.rs"]
mod any;
mod blame;
mod crafted;
mod findings;
mod hidden;
mod hidden_within;
#[path = "../../trace/tests/any/history.rs"]
mod history;
mod memory;
mod steps;
