//! Draws the model and returns the user's commands.
//!
//! Each panel is a function of [`loadscope_model::state::State`] and its own data from the previous frame. It returns
//! [`loadscope_model::command::Command`]s and changes nothing itself.

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

mod kit;
pub mod panels;
pub mod pipeline;
pub mod theme;
pub mod timeline;

/// Doctest of the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
