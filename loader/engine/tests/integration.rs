//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

#[path = "configuration/mod.rs"]
mod configuration;
mod diagnosis;
mod faults;
mod formats;
mod order;
mod persistent;
mod pinning;
mod resume;
mod support;
mod threads;
