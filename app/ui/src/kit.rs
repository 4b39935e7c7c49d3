//! Widgets that several panels share, so that equal things look equal.
//!
//! A panel returns the commands of one frame. Its parts push their commands onto a list that they are given. Action buttons do so
//! themselves.

pub mod action;
pub mod dropdown;
pub mod empty;
pub mod icons;
pub mod parts;
pub mod rows;
pub mod sheet;
pub mod strip;
pub mod table;
pub mod titles;
