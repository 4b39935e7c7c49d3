//! Editing of an unfinished answer.

/// Answer before it is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Typed number.
    pub number: String,
    /// Positions of the chosen items, in the order of choice.
    pub order: Vec<usize>,
    /// Position of the choice, part or batch that a key selected.
    pub chosen: Option<usize>,
}

impl Draft {
    /// Adds an item to the end of the order. An item that is already there is removed, with all later ones.
    pub fn toggle(&mut self, item: usize) {
        match self.order.iter().position(|at| *at == item) {
            Some(at) => self.order.truncate(at),
            None => self.order.push(item),
        }
    }

    /// Parses the typed number. Accepts a decimal comma.
    pub fn value(&self) -> Option<f64> {
        let number: f64 = self.number.trim().replace(',', ".").parse().ok()?;
        number.is_finite().then_some(number)
    }
}
