//! Creates the rows of the table.

use serde::Deserialize;

/// Row of the table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Row {
    /// Checked property.
    pub what: String,
    /// Measured value.
    pub measured: String,
    /// True if the promised property holds. `None` without a promise.
    pub holds: Option<bool>,
}

impl Row {
    /// Creates a row.
    pub fn new(what: &str, measured: String, holds: Option<bool>) -> Self {
        Self {
            what: what.to_owned(),
            measured,
            holds,
        }
    }
}

/// Formats a number with commas between thousands.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        let all = [0, 999, 1_000, 12_345, 1_000_000_000].map(count);
        assert_eq!(all, ["0", "999", "1,000", "12,345", "1,000,000,000"]);
    }
}
