//! A fault, the promised behavior, and the result.

use std::fmt;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::sandbox::{Sandbox, SharedState, Skipped};

type Check = Box<dyn Fn(&Sandbox) -> Result<()> + Send + Sync>;

/// Injected fault with a check.
pub struct Case {
    pub family: &'static str,
    pub name: String,
    /// Description of the fault.
    pub injected: String,
    /// Promised behavior.
    pub holds: String,
    /// True if CI runs the case.
    pub fast: bool,
    /// True if the case measures times. Then no other case runs at the same time.
    pub alone: bool,
    check: Check,
}

impl Case {
    pub fn new(
        family: &'static str,
        name: impl Into<String>,
        injected: impl Into<String>,
        holds: impl Into<String>,
        check: impl Fn(&Sandbox) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self {
            family,
            name: format!("{family}: {}", name.into()),
            injected: injected.into(),
            holds: holds.into(),
            fast: false,
            alone: false,
            check: Box::new(check),
        }
    }

    /// Includes the case in CI.
    pub fn fast(mut self) -> Self {
        self.fast = true;
        self
    }

    pub fn fast_if(mut self, fast: bool) -> Self {
        self.fast = fast;
        self
    }

    /// Excludes other cases while this one runs.
    pub fn alone(mut self) -> Self {
        self.alone = true;
        self
    }

    pub fn attempt(&self, shared: &SharedState) -> CaseResult {
        let started = Instant::now();
        let sandbox = Sandbox::new(shared);
        let outcome = sandbox.and_then(|sandbox| {
            (self.check)(&sandbox)?;
            Ok(sandbox.note.take())
        });
        let took = started.elapsed();
        let (verdict, note) = match outcome {
            Ok(note) => (Verdict::Passed, note),
            Err(error) => match error.downcast::<Skipped>() {
                Ok(Skipped(why)) => (Verdict::Skipped(why), String::new()),
                Err(error) => (Verdict::Failed(format!("{error:#}")), String::new()),
            },
        };
        CaseResult {
            family: self.family,
            name: self.name.clone(),
            injected: self.injected.clone(),
            holds: self.holds.clone(),
            note,
            verdict,
            took,
        }
    }
}

/// Case as a row of a constant table.
pub struct Row {
    name: &'static str,
    injected: &'static str,
    holds: &'static str,
    check: fn(&Sandbox) -> Result<()>,
    fast: bool,
}

impl Row {
    pub const fn new(
        name: &'static str,
        injected: &'static str,
        holds: &'static str,
        check: fn(&Sandbox) -> Result<()>,
    ) -> Self {
        Self {
            name,
            injected,
            holds,
            check,
            fast: false,
        }
    }

    /// Includes the case in CI.
    pub const fn fast(mut self) -> Self {
        self.fast = true;
        self
    }
}

/// Returns the cases of a table.
pub fn table(family: &'static str, rows: &'static [Row]) -> impl Iterator<Item = Case> {
    let case = move |row: &'static Row| {
        Case::new(family, row.name, row.injected, row.holds, row.check).fast_if(row.fast)
    };
    rows.iter().map(case)
}

/// Result of a case.
pub struct CaseResult {
    pub family: &'static str,
    pub name: String,
    pub injected: String,
    pub holds: String,
    /// Measured values.
    pub note: String,
    pub verdict: Verdict,
    pub took: Duration,
}

/// Result of the check.
pub enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

impl fmt::Display for CaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.took.as_secs_f64();
        match &self.verdict {
            Verdict::Passed => write!(f, "ok      {} ({seconds:.1} s)", self.name)?,
            Verdict::Failed(why) => write!(f, "FAILED  {} ({seconds:.1} s): {why}", self.name)?,
            Verdict::Skipped(why) => write!(f, "–       {}: not tried: {why}", self.name)?,
        }
        match self.note.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", self.note),
        }
    }
}
