//! Work of the benchmark `measure`.
#![allow(
    dead_code,
    missing_docs,
    reason = "each benchmark uses its share of this module"
)]

pub mod bare;
pub mod cost;
pub mod data;
pub mod engine;
pub mod formats;
pub mod processor;
pub mod recording;
pub mod samplers;
