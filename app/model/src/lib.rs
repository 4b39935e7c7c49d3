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

use std::ops::Deref;

use crate::effect::Effect;
use crate::message::Message;
use crate::state::State;
use crate::update::update;

pub mod clipboard;
pub mod code;
pub mod command;
pub mod effect;
pub mod history;
pub mod lanes;
pub mod markers;
pub mod menu_entries;
pub mod message;
pub mod prefs;
pub mod preparing;
pub mod results;
pub mod sampling;
pub mod state;
pub mod thumbnail;
pub mod typing;
pub mod update;
pub mod view;
pub mod watching;

/// Doctest of the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Readable state that only messages change.
#[derive(Debug, Default)]
pub struct Model {
    state: State,
    /// All messages so far, if logging is on.
    log: Option<Vec<Message>>,
}

impl Model {
    /// Creates a model with this state.
    pub fn new(state: State) -> Self {
        Self { state, log: None }
    }

    /// Turns on the log of messages. Replaying them from the same initial state leads to the same state.
    #[must_use]
    pub fn with_log(mut self) -> Self {
        self.log = Some(Vec::new());
        self
    }

    /// Applies a message. Returns the effect to perform outside the state.
    pub fn apply(&mut self, message: impl Into<Message>) -> Option<Effect> {
        let message = message.into();
        if let Some(log) = &mut self.log {
            log.push(message.clone());
        }
        update(&mut self.state, message)
    }

    /// Returns the logged messages. The list is empty if logging is off.
    pub fn log(&self) -> &[Message] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Returns the state for direct changes in tests and benchmarks.
    pub fn set_up(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Deref for Model {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}
