//! Tests of the crate. Those of the language and of memory have their own executables.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod common;
mod lmdb;
mod peers;
mod postgresql;
mod postgresql_faults;
mod python;
mod small;
mod sqlite;
mod sqlite_faults;
mod webdataset;
