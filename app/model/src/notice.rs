//! What the user should know.

/// Something that went wrong or was lost, shown in place until it is dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Red or not.
    pub is_error: bool,
    /// Whole sentences.
    pub text: String,
}
