//! Diagnosis of runs with known causes.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod diagnosis {
    mod confusion;
    mod experiment;
    mod notes;
    mod proof;
    mod scenario;
    mod spoil;
}
