//! Notices to the user.

pub use loadscope_insight::session_event::Notice;
