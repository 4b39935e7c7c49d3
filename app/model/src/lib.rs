//! Everything the window shows and everything a user can ask for, without a window.
//!
//! Panels read [`state::State`] and return [`command::Command`]s. [`update::update`] is the one place that changes the state; what
//! needs a file, the engine or a dialog comes out of it as an [`effect::Effect`].
//!
//! ```
//! use loadscope_model::{command::{Action, Command}, state::State, update::update, view::Workspace};
//!
//! let mut state = State::default();
//! let effect = update(&mut state, Command::Act(Action::ShowSampling));
//! assert!(effect.is_none() && state.prefs.workspace == Workspace::Sampling);
//! ```

pub mod clipboard;
pub mod command;
pub mod effect;
pub mod history;
pub mod lanes;
pub mod markers;
pub mod notice;
pub mod palette;
pub mod picture;
pub mod prefs;
pub mod question;
pub mod state;
pub mod typing;
pub mod update;
pub mod view;
