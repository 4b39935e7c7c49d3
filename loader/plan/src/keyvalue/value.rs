//! Values of a key: numbers, pairs, flags and ranges.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use crate::limits;
use loadscope_words::say;

/// Reason why a value is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Invalid number, or number out of range.
    #[error("{}", say!("'{text}' is not a {kind}{range}", text = .text, kind = .kind, range = .range))]
    Number {
        /// Text as given.
        text: String,
        /// Kind of number, such as `whole number`.
        kind: &'static str,
        /// Valid range, such as ` from 0 to 9`. Empty: no limit.
        range: String,
    },
    /// Neither true nor false.
    #[error("{}", say!("'{0}' is neither true nor false", .0))]
    Flag(String),
    /// Not two numbers separated by a colon.
    #[error("{}", say!("'{0}' is not two numbers separated by a colon", .0))]
    Pair(String),
    /// Reason that only one key has: the text of the error message.
    #[error("{0}")]
    Other(String),
}

impl ValueError {
    /// Creates a reason that only one key has.
    pub fn other(sentence: impl Into<String>) -> Self {
        Self::Other(sentence.into())
    }
}

/// Parses a whole number in a range.
///
/// # Errors
/// If the text is not a whole number in `range`.
pub fn whole<T: FromStr + PartialOrd + Display>(
    text: &str,
    range: impl RangeBounds<T>,
) -> Result<T, ValueError> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| number_error(say!("whole number"), text, &range))
}

/// Parses a finite number in a range.
///
/// # Errors
/// If the text is not a finite number in `range`.
pub fn real(text: &str, range: impl RangeBounds<f64>) -> Result<f64, ValueError> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| number.is_finite() && range.contains(number));
    // Adding zero turns −0 into 0.
    let number = number.map(|number| number + 0.0);
    number.ok_or_else(|| number_error("number", text, &range))
}

fn number_error<T: Display>(
    kind: &'static str,
    text: &str,
    range: &impl RangeBounds<T>,
) -> ValueError {
    let end = |bound| match bound {
        Bound::Included(end) | Bound::Excluded(end) => Some(end),
        Bound::Unbounded => None,
    };
    let range = match (end(range.start_bound()), end(range.end_bound())) {
        // The maximum of the type is not a useful limit for the user.
        (Some(low), Some(high)) if high.to_string() == u64::MAX.to_string() => {
            say!(" of at least {low}")
        }
        (Some(low), Some(high)) => say!(" from {low} to {high}"),
        (Some(low), None) => say!(" of at least {low}"),
        (None, Some(high)) => say!(" of at most {high}"),
        (None, None) => String::new(),
    };
    let text = text.to_owned();
    ValueError::Number { text, kind, range }
}

/// Parses `true`, `false`, `1` or `0`, ignoring case.
///
/// # Errors
/// If the text is none of these.
pub fn flag(text: &str) -> Result<bool, ValueError> {
    match text {
        "1" => Ok(true),
        "0" => Ok(false),
        _ if text.eq_ignore_ascii_case("true") => Ok(true),
        _ if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(ValueError::Flag(text.to_owned())),
    }
}

/// Splits a pair such as `4:1000` at the colon.
///
/// # Errors
/// If the text contains no colon.
pub fn pair(text: &str) -> Result<(&str, &str), ValueError> {
    let parts = text.split_once(':').map(|(a, b)| (a.trim(), b.trim()));
    parts.ok_or_else(|| ValueError::Pair(text.to_owned()))
}

/// Parses `4`, `0..8` (inclusive) or `1,2,4`. Returns the distinct numbers up to `most` in ascending order.
///
/// # Errors
/// If the text is invalid, or a number exceeds `most`.
pub fn numbers(text: &str, name: &str, most: usize) -> Result<Vec<usize>, ValueError> {
    let number = |text: &str| {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ValueError::other(say!(
                "expected a number, a range such as 0..8, or a list such as 1,2,4"
            )));
        }
        let too_much = || {
            let most = limits::grouped(most as u64);
            ValueError::Other(limits::too_much(
                name,
                most,
                text,
                say!("Choose a smaller number."),
            ))
        };
        let number = text.parse::<usize>().ok().filter(|number| *number <= most);
        number.ok_or_else(too_much)
    };
    // The set contains at most `most` + 1 numbers.
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => all.extend([number(part)?]),
            Some((first, last)) => {
                let (first, last) = (number(first)?, number(last.trim_start_matches('='))?);
                if last < first {
                    return Err(ValueError::Other(say!(
                        "a range goes from the smaller to the larger number, as in {last}..{first}"
                    )));
                }
                all.extend(first..=last);
            }
        }
    }
    Ok(all.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says<T: std::fmt::Debug>(read: Result<T, ValueError>, sentence: &str) {
        let error = read.expect_err(sentence);
        assert_eq!(error.to_string(), sentence);
    }

    #[test]
    fn numbers_outside_their_range_are_refused() {
        assert_eq!(whole("7", 0..=9), Ok(7u64));
        assert_eq!(whole("+7", 1..), Ok(7usize));
        says(
            whole("-1", 0..=9u64),
            "'-1' is not a whole number from 0 to 9",
        );
        says(
            whole("10", 0..=9u64),
            "'10' is not a whole number from 0 to 9",
        );
        says(
            whole("x", 0..=u64::MAX),
            "'x' is not a whole number of at least 0",
        );
        says(
            whole("", 1usize..),
            "'' is not a whole number of at least 1",
        );
        says(
            whole("7.5", 0..=9u8),
            "'7.5' is not a whole number from 0 to 9",
        );
        says(
            whole("99999999999999999999", ..=u64::MAX),
            "'99999999999999999999' is not a whole number of at most 18446744073709551615",
        );
        assert_eq!(real("-0", 0.0..=1.0).map(f64::to_bits), Ok(0));
        assert_eq!(real("1e3", ..), Ok(1000.0));
        for wrong in ["2", "NaN", "inf", "many"] {
            says(
                real(wrong, 0.0..=1.0),
                &format!("'{wrong}' is not a number from 0 to 1"),
            );
        }
        says(real("inf", ..), "'inf' is not a number");
    }

    #[test]
    fn flags_and_pairs_are_parsed() {
        let read = ["true", "False", "1", "0"].map(|text| flag(text).ok());
        assert_eq!(read, [Some(true), Some(false), Some(true), Some(false)]);
        says(flag("yes"), "'yes' is neither true nor false");
        assert_eq!(pair("4 : 1000"), Ok(("4", "1000")));
        says(pair("4"), "'4' is not two numbers separated by a colon");
    }

    #[test]
    fn numbers_ranges_and_lists_are_parsed() {
        let read = |text: &str| numbers(text, "num_workers", 1024);
        assert_eq!(read("4"), Ok(vec![4]));
        assert_eq!(read("0..3"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(read("8, 1..=2,1"), Ok(vec![1, 2, 8]));
        let many = ["0..1024"; 1000].join(",");
        assert_eq!(read(&many).map(|all| all.len()), Ok(1025));
        let wrong = "expected a number, a range such as 0..8, or a list such as 1,2,4";
        for text in ["", "many", "-1", "1,", "..", "+1"] {
            says(read(text), wrong);
        }
        says(
            read("4..1"),
            "a range goes from the smaller to the larger number, as in 1..4",
        );
        for text in ["99999999", "18446744073709551617"] {
            says(
                read(&format!("0..{text}")),
                &format!(
                    "num_workers should be at most 1,024, but got num_workers={text}. Choose a smaller number."
                ),
            );
        }
    }
}
