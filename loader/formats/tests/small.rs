//! Small handmade files with known values, for tests without another program.
#![cfg(all(feature = "audio", feature = "parquet", feature = "tar"))]
#![allow(clippy::print_stdout, reason = "a measurement")]

mod arrays;
mod columns;
