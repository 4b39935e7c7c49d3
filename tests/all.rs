//! End-to-end tests: user interaction with the window, screenshots of it, and real data through the engine.
//!
//! All tests are in one binary, because linking takes longer than running.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod alone;
mod bad_input;
mod code;
mod control_sequence;
mod device;
mod diagnose;
mod dropping;
mod exchange;
mod film;
mod fixture;
mod folder;
mod form;
mod future;
mod journal;
mod layout;
mod learn;
mod live;
mod loaders;
mod menus;
mod messages;
mod options;
mod pace;
mod past;
mod pictures;
mod pipeline;
mod plots;
mod presentation;
mod prompts;
mod reading;
mod runs;
mod samples;
mod sampling;
mod snapshots;
mod states;
mod texts;
mod timeline;
mod travel;
mod trying;
mod waits;
mod watching;
mod welcome;
mod window;
