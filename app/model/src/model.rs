//! The state, and the one way to change it.

use std::ops::Deref;

use crate::effect::Effect;
use crate::message::Message;
use crate::state::State;
use crate::update::update;

/// The state. It can be read by anyone, and changes by messages only.
#[derive(Debug, Default)]
pub struct Model {
    state: State,
    /// All messages so far, if they are kept.
    log: Option<Vec<Message>>,
}

impl Model {
    /// A model that begins with this state.
    pub fn new(state: State) -> Self {
        Self { state, log: None }
    }

    /// The same, which keeps all messages that it gets: replayed over the same beginning, they lead to the same state.
    #[must_use]
    pub fn with_log(mut self) -> Self {
        self.log = Some(Vec::new());
        self
    }

    /// Takes a message in. What has to be done outside comes out.
    pub fn tell(&mut self, message: impl Into<Message>) -> Option<Effect> {
        let message = message.into();
        if let Some(log) = &mut self.log {
            log.push(message.clone());
        }
        update(&mut self.state, message)
    }

    /// The messages so far; none if they are not kept.
    pub fn log(&self) -> &[Message] {
        self.log.as_deref().unwrap_or_default()
    }

    /// The state to be set up by hand, as tests and benchmarks do.
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
