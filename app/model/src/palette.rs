//! What is typed into the palette of all actions.

/// What is typed into the palette, and which of its lines is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// What is typed.
    pub text: String,
    /// The chosen line, from 0.
    pub chosen: usize,
}
