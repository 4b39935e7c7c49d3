//! An answer before it is submitted.

/// Answer before it is submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// A number as it is typed.
    pub number: String,
    /// Items in the order in which they were chosen, by their positions.
    pub order: Vec<usize>,
    /// The position of the choice, or of the part or batch to click, that a key selected.
    pub chosen: Option<usize>,
}

impl Draft {
    /// Puts an item at the end of the order; one that is there already goes, with those after it.
    pub fn toggle(&mut self, item: usize) {
        match self.order.iter().position(|at| *at == item) {
            Some(at) => self.order.truncate(at),
            None => self.order.push(item),
        }
    }

    /// The number that was typed; a comma counts as a point.
    pub fn value(&self) -> Option<f64> {
        let number: f64 = self.number.trim().replace(',', ".").parse().ok()?;
        number.is_finite().then_some(number)
    }
}
