//! The diagnosis of runs whose causes are known, because they were put there.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

mod diagnosis {
    mod confusion;
    mod experiment;
    mod notes;
    mod proof;
    mod scenario;
    mod spoil;
}
