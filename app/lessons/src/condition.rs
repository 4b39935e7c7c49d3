//! Goals of trials: `waited percent < 5 and num_workers >= 2`.

use crate::error::Mistake;
use crate::query::{Query, QueryContext};
use crate::value::Value;

/// Condition on a run. All parts must be true.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition(Vec<Test>);

#[derive(Clone, Debug, PartialEq)]
struct Test {
    text: String,
    query: Query,
    holds: Comparison,
}

#[derive(Clone, Debug, PartialEq)]
enum Comparison {
    Below(f64),
    AtMost(f64),
    Above(f64),
    AtLeast(f64),
    Is(String),
    IsNot(String),
}

impl Condition {
    /// Parses `QUERY < NUMBER and QUERY is WORD`.
    ///
    /// # Errors
    /// If a part has no comparison, an unknown query or no number.
    pub fn read(text: &str) -> Result<Self, Mistake> {
        let parts = text.split(" and ");
        // `same order in epochs 0 and 1 is no` contains an "and" inside the query.
        let mut whole: Vec<String> = Vec::new();
        for part in parts {
            match whole.last_mut() {
                Some(last) if compared(last).is_none() => {
                    last.push_str(" and ");
                    last.push_str(part);
                }
                _ => whole.push(part.to_owned()),
            }
        }
        whole
            .iter()
            .map(|part| test(part))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns true if all parts are true.
    pub fn is_met(&self, about: QueryContext<'_>) -> bool {
        self.0.iter().all(|test| test.is_met(about))
    }

    /// Returns the text of each part with the value of its query.
    pub fn found(&self, about: QueryContext<'_>) -> Vec<(String, Option<Value>)> {
        let found = |test: &Test| (test.text.clone(), test.query.answer(about));
        self.0.iter().map(found).collect()
    }

    /// Returns the values of the queries, in order.
    pub fn values(&self, about: QueryContext<'_>) -> Vec<Option<Value>> {
        self.0.iter().map(|test| test.query.answer(about)).collect()
    }
}

const SIGNS: [&str; 7] = [" <= ", " >= ", " < ", " > ", " = ", " is not ", " is "];

fn compared(part: &str) -> Option<(&str, &'static str, &str)> {
    SIGNS.into_iter().find_map(|sign| {
        let (query, value) = part.split_once(sign)?;
        Some((query.trim(), sign.trim(), value.trim()))
    })
}

fn test(part: &str) -> Result<Test, Mistake> {
    let Some((query, sign, value)) = compared(part) else {
        return Err(Mistake::new(
            format!("'{part}' compares nothing"),
            "Write a query, one of < <= > >= = 'is' 'is not', and a value, with blanks around: waited percent < 5.",
        ));
    };
    let number = || {
        value.parse().map_err(|_| {
            Mistake::new(
                format!("'{value}' is not a number"),
                format!("Write a number behind {sign}, or compare words with 'is'."),
            )
        })
    };
    let holds = match sign {
        "<" => Comparison::Below(number()?),
        "<=" => Comparison::AtMost(number()?),
        ">" => Comparison::Above(number()?),
        ">=" => Comparison::AtLeast(number()?),
        "is not" => Comparison::IsNot(value.to_owned()),
        _ => Comparison::Is(value.to_owned()),
    };
    let query = Query::read(query)?;
    Ok(Test {
        text: part.to_owned(),
        query,
        holds,
    })
}

impl Test {
    fn is_met(&self, about: QueryContext<'_>) -> bool {
        let Some(found) = self.query.answer(about) else {
            return false;
        };
        let number = |holds: &dyn Fn(f64) -> bool| found.number().is_some_and(holds);
        match &self.holds {
            Comparison::Below(limit) => number(&|n| n < *limit),
            Comparison::AtMost(limit) => number(&|n| n <= *limit),
            Comparison::Above(limit) => number(&|n| n > *limit),
            Comparison::AtLeast(limit) => number(&|n| n >= *limit),
            Comparison::Is(text) => found.is(text),
            Comparison::IsNot(text) => !found.is(text),
        }
    }
}
