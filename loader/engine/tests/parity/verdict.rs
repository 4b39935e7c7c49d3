//! Cases, and what a check says about them.

use std::fmt::Debug;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// One case of a file.
pub struct Case<'a> {
    /// Its name in the file.
    pub id: &'a str,
    /// What was done.
    pub op: &'a str,
    /// With what.
    pub input: &'a Json,
    /// All of it: `out` or `error` say what PyTorch did.
    pub json: &'a Json,
    /// The file, which may hold more that cases refer to.
    pub file: &'a Json,
}

impl Case<'_> {
    /// What PyTorch returned; null if it raised.
    pub fn out(&self) -> &Json {
        &self.json["out"]
    }

    /// The verdict on a result that is to be exactly what PyTorch returned.
    pub fn returns(&self, actual: &Json) -> Verdict {
        match self.json.get("out") {
            Some(out) => Verdict::equal(out, actual),
            None => Verdict::fail(&self.json["error"].to_string(), &actual.to_string()),
        }
    }

    /// The verdict on an error of this Python type and with this message.
    pub fn raises(&self, kind: &str, message: &str) -> Verdict {
        let expected = &self.json["error"];
        if expected["type"] == kind && expected["message"] == message {
            return Verdict::Pass;
        }
        let expected = if expected.is_null() {
            format!("no error but {}", self.out())
        } else {
            expected.to_string()
        };
        Verdict::fail(&expected, &format!("{kind}: {message}"))
    }
}

/// What a check says about a case.
pub enum Verdict {
    /// As PyTorch.
    Pass,
    /// Cannot apply to threads, and why.
    NotApplicable(&'static str),
    /// Not as PyTorch.
    Fail {
        /// What PyTorch did.
        expected: String,
        /// What the engine did.
        actual: String,
    },
}

impl Verdict {
    /// A failure.
    pub fn fail(expected: &str, actual: &str) -> Self {
        Self::Fail {
            expected: expected.to_owned(),
            actual: actual.to_owned(),
        }
    }

    /// Passes if both are equal.
    pub fn equal<T: PartialEq + Debug>(expected: &T, actual: &T) -> Self {
        if expected == actual {
            Self::Pass
        } else {
            Self::fail(&format!("{expected:?}"), &format!("{actual:?}"))
        }
    }

    /// Passes if all pass; otherwise the first that does not.
    pub fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts
            .into_iter()
            .find(|v| !matches!(v, Self::Pass))
            .unwrap_or(Self::Pass)
    }
}

/// Whether a list is what the case says, in full or as length, ends and hash.
fn same_list(expected: &Json, actual: &[i64]) -> bool {
    match expected {
        Json::Array(items) => items
            .iter()
            .map(Json::as_i64)
            .eq(actual.iter().map(|&v| Some(v))),
        _ => {
            let text: Vec<String> = actual.iter().map(i64::to_string).collect();
            let hash = Sha256::digest(text.join(","));
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let ends = actual.len() >= 16
                && same_list(&expected["head"], &actual[..16])
                && same_list(&expected["tail"], &actual[actual.len() - 16..]);
            ends && expected["len"] == actual.len() && expected["sha256"] == hex
        }
    }
}

/// A verdict on a list, which may be given in short.
pub fn list_verdict(expected: &Json, actual: &[i64]) -> Verdict {
    if same_list(expected, actual) {
        return Verdict::Pass;
    }
    Verdict::fail(
        &expected.to_string(),
        &format!("{} items: {actual:?}", actual.len()),
    )
}
