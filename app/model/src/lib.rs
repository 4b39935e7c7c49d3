//! Everything the window shows and everything a user can ask for, without a window.
//!
//! Panels read [`state::State`] and return [`command::Command`]s. A [`Model`] keeps the state; what changes it is a
//! [`message::Message`], whether a user asked for it or it arrived from a file, and [`update::update`] is the one place that carries
//! messages out. What needs a file, the engine or a dialog comes out of it as an [`effect::Effect`].
//!
//! ```
//! use loadscope_model::{Model, command::Action, view::Workspace};
//!
//! let mut model = Model::default();
//! let effect = model.tell(Action::ShowSampling);
//! assert!(effect.is_none() && model.prefs.workspace == Workspace::Sampling);
//! ```

#![forbid(unsafe_code)]

loadscope_words::catalogs!();

pub mod answers;
pub mod clipboard;
pub mod command;
pub mod effect;
pub mod history;
pub mod lanes;
pub mod markers;
pub mod message;
mod model;
pub mod notice;
pub mod offers;
pub mod palette;
pub mod picture;
pub mod prefs;
pub mod preparing;
pub mod question;
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

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
