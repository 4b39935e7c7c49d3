//! Numbers as people read them: the words of the diagnosis and those of the window are the same.

pub use loadscope_trace::{count, percent, plural};
