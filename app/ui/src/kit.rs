//! Widgets that several panels share: one of each kind, so that what is the same looks the same.
//!
//! What the user asks for is returned in one way: a panel returns the commands of a frame, its parts add theirs to the list that they
//! are given. A button of an action does so by itself.

pub mod action;
pub mod choice;
pub mod empty;
pub mod keyboard;
pub mod menu;
pub mod parts;
pub mod rows;
pub mod sheet;
pub mod signs;
pub mod strip;
pub mod table;
pub mod term;
pub mod titles;
