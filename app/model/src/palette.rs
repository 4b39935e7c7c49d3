//! Input of the palette of actions.

/// Typed text and chosen line of the palette.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Palette {
    /// Typed text.
    pub text: String,
    /// Chosen line, counted from 0.
    pub chosen: usize,
}
