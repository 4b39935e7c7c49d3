//! The window in a browser. The page opens recordings, follows a program that a Loadscope server records, and simulates runs. It draws the
//! same window as the desktop. This crate replaces files, threads and sessions by functions of the browser.

loadscope_words::catalogs!();

pub mod live;
pub mod recording_reader;
pub mod simulation;

#[cfg(target_family = "wasm")]
mod app;
#[cfg(target_family = "wasm")]
mod browser;
#[cfg(target_family = "wasm")]
mod inbox;
#[cfg(target_family = "wasm")]
mod page;
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
