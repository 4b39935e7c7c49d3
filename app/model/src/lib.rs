//! State of the window and all user requests, without a window.
//!
//! Panels read [`state::State`] and return [`command::Command`]s. A [`Model`] contains the state.
//! Each change is a [`message::Message`], from the user or from a file. Only [`update::update`] carries messages out.
//! `update` returns an [`effect::Effect`] for a file, the engine or a dialog.
//!
//! ```
//! use loadscope_model::{Model, command::Action, view::Workspace};
//!
//! let mut model = Model::default();
//! let effect = model.apply(Action::ShowSampling);
//! assert!(effect.is_none() && model.prefs.workspace == Workspace::Sampling);
//! ```

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

pub mod clipboard;
pub mod command;
pub mod effect;
pub mod history;
pub mod lanes;
pub mod markers;
pub mod menu_entries;
pub mod message;
mod model;
pub mod notice;
pub mod palette;
pub mod picture;
pub mod prefs;
pub mod preparing;
pub mod question;
pub mod results;
pub mod sampling;
mod secrets;
pub mod state;
pub mod thumbnail;
pub mod trying;
pub mod typing;
pub mod update;
pub mod view;
pub mod watching;

pub use model::Model;

/// Doctest of the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
