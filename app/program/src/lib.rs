//! Loadscope's window and command line. It connects the model, the interface and the sources of runs.

#![deny(unsafe_code)]

loadscope_words::catalogs!();

#[cfg(target_os = "linux")]
pub mod allocator;
pub mod cli;
pub mod desktop;
pub mod dialog;
pub mod motion;
pub mod page;
pub mod preferences;
pub mod serve;
pub mod window;

/// Doctest of the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
