//! What the user should know.

pub use loadscope_insight::arrival::Notice;
