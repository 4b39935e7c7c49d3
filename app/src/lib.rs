//! Loadscope's window and command line.
//!
//! The interface reads [`state::State`] and returns [`command::Command`]s; [`update`] is the one place that changes the
//! state. Only [`session`] names the engine.

pub mod app;
pub mod cli;
pub mod clipboard;
pub mod command;
pub mod dialog;
pub mod history;
pub mod machine;
pub mod markers;
pub mod motion;
pub mod palette;
pub mod panels;
pub mod prefs;
pub mod question;
pub mod session;
pub mod state;
pub mod theme;
pub mod timeline;
pub mod typing;
pub mod update;
pub mod view;
