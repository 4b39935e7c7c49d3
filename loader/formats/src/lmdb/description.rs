//! Descriptor of a database.

/// Descriptor of a database, with the root of its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Description {
    flags: u64,
    /// Number of levels of the tree.
    pub(super) depth: u64,
    pub(super) entries: u64,
    /// Root page of the tree, or `None` without entries.
    pub(super) root: Option<u64>,
}

impl Description {
    /// Reads the descriptor from its 48 bytes.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        const NO_PAGE: u64 = u64::MAX;
        let number = |at: usize, len: usize| {
            let found = bytes.get(at..at + len)?;
            Some(
                found
                    .iter()
                    .rev()
                    .fold(0, |number, byte| number << 8 | u64::from(*byte)),
            )
        };
        Some(Self {
            flags: number(4, 2)?,
            depth: number(6, 2)?,
            entries: number(32, 8)?,
            root: Some(number(40, 8)?).filter(|root| *root != NO_PAGE),
        })
    }

    /// Returns true if a key may have several values.
    pub(super) fn has_duplicates(self) -> bool {
        const DUPSORT: u64 = 4;
        self.flags & DUPSORT != 0
    }
}
