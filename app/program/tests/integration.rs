//! Tests of the crate in one executable.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod alarm;
#[cfg(feature = "engine")]
mod bounds;
mod ci;
#[cfg(feature = "engine")]
mod cli;
mod delivery;
mod device;
#[cfg(feature = "engine")]
mod diagnosis;
mod documents;
mod dump;
mod full_disk;
mod fuzzed_loaders;
mod hostile;
#[cfg(feature = "engine")]
mod limits;
mod no_engine;
mod orders;
mod record;
#[cfg(feature = "engine")]
mod repair;
mod repair_parts;
mod several;
#[cfg(feature = "engine")]
mod signals;
mod ssh;
mod stacks;
mod support;
mod tune;
mod web;
mod wheel;
#[cfg(feature = "engine")]
mod writing;
