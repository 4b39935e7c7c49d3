//! Tests of the diagnosis, for runs with known causes.

mod confusion;
mod experiment;
mod notes;
mod proof;
mod scenario;
mod spoil;
