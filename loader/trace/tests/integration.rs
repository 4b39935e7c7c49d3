//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod any;
mod ask;
mod blocks;
mod damaged;
mod fold;
#[path = "any/history.rs"]
mod history;
mod hostile;
mod limited;
mod repair;
mod schema;
