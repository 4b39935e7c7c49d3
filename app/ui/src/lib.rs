//! Draws what the model holds, and returns what the user asks for.
//!
//! Everything here is a function of [`loadscope_model::state::State`] and of what a panel keeps of the frame before: it returns
//! [`loadscope_model::command::Command`]s and changes nothing itself.

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

mod kit;
pub mod panels;
pub mod pipeline;
pub mod theme;
pub mod timeline;

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
