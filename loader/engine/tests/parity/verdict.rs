//! Cases, and the verdicts of checks.

use std::fmt::Debug;

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// One case of a file.
pub struct Case<'a> {
    /// Name of the case, unique in its file.
    pub id: &'a str,
    /// Operation under test, such as a sampler or a constructor.
    pub op: &'a str,
    /// Input of the operation.
    pub input: &'a Json,
    /// The whole case. `out` or `error` is PyTorch's result.
    pub json: &'a Json,
    /// The file, which may contain more data for cases.
    pub file: &'a Json,
}

impl Case<'_> {
    /// Returns PyTorch's result, or null if it raised.
    pub fn out(&self) -> &Json {
        &self.json["out"]
    }

    /// Returns the verdict on a result that must equal PyTorch's.
    pub fn returns(&self, actual: &Json) -> Verdict {
        match self.json.get("out") {
            Some(out) => Verdict::equal(out, actual),
            None => Verdict::fail(&self.json["error"].to_string(), &actual.to_string()),
        }
    }

    /// Returns the verdict on an error with this Python type and message.
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

/// Verdict on a case.
pub enum Verdict {
    /// Same result as PyTorch.
    Pass,
    /// Not applicable to threads, with the reason.
    NotApplicable(&'static str),
    /// Different result than PyTorch.
    Fail {
        /// PyTorch's result.
        expected: String,
        /// The engine's result.
        actual: String,
    },
}

impl Verdict {
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

    /// Passes if all pass. Otherwise returns the first that does not pass.
    pub fn all(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts
            .into_iter()
            .find(|v| !matches!(v, Self::Pass))
            .unwrap_or(Self::Pass)
    }
}

/// Compares a list with that of a case, given in full or as length, ends and hash.
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

/// Returns the verdict on a list, which the case may give in short form.
pub fn list_verdict(expected: &Json, actual: &[i64]) -> Verdict {
    if same_list(expected, actual) {
        return Verdict::Pass;
    }
    Verdict::fail(
        &expected.to_string(),
        &format!("{} items: {actual:?}", actual.len()),
    )
}
