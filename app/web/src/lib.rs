//! The window in a browser: one page, which opens recordings, follows a program that a server of Loadscope records, and simulates
//! runs. What is drawn is what a desktop draws; here is what a browser has in the place of files, threads and sessions.

loadscope_words::catalogs!();

pub mod live;
pub mod reading;
pub mod simulating;

#[cfg(target_family = "wasm")]
mod app;
#[cfg(target_family = "wasm")]
mod browser;
#[cfg(target_family = "wasm")]
mod inbox;
#[cfg(target_family = "wasm")]
mod page;
#[cfg(target_family = "wasm")]
mod perform;
#[cfg(target_family = "wasm")]
mod platform;
#[cfg(target_family = "wasm")]
mod runs;
#[cfg(target_family = "wasm")]
mod screen;
#[cfg(target_family = "wasm")]
mod storage;
#[cfg(target_family = "wasm")]
mod work;
