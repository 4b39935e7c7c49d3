//! Replays every stored input. Inputs that found a bug have separate tests in `faults.rs`.

#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use loadscope_fuzz::{Bounds, Input, ResourceUse, TARGETS, corpus};

/// Maximum size of the archive, and of an input, bytes.
const MOST_BYTES: usize = 3 << 20;
const LONGEST: usize = 50_000;

fn inputs() -> Vec<Input> {
    corpus().expect("the archive is beside this file")
}

/// A single test, because the measured memory is that of the whole process.
#[test]
fn all_corpus_inputs_run_within_the_bounds() {
    let inputs = inputs();
    for target in TARGETS {
        for input in inputs.iter().filter(|input| input.target == target.name) {
            let result = catch_unwind(|| {
                Bounds::LENIENT.check(ResourceUse::measure(|| (target.run)(&input.bytes, true)));
            });
            assert!(
                result.is_ok(),
                "{}/{} is not taken",
                target.name,
                input.name
            );
        }
    }
}

#[test]
fn the_corpus_covers_exactly_the_fuzz_targets() {
    let inputs = inputs();
    let has: BTreeSet<&str> = inputs.iter().map(|input| &*input.target).collect();
    let wanted: BTreeSet<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(has, wanted);
}

#[test]
fn the_corpus_is_small() {
    let inputs = inputs();
    for Input {
        target,
        name,
        bytes,
    } in &inputs
    {
        assert!(bytes.len() <= LONGEST, "{target}/{name} is long");
    }
    let total: usize = inputs.iter().map(|input| input.bytes.len()).sum();
    assert!(total <= MOST_BYTES, "{total} bytes");
}
