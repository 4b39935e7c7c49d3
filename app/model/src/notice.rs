//! What the user should know.

pub use loadscope_insight::session_event::Notice;
