//! Page-locked memory in a loader.

use crate::support;

use std::sync::Arc;

use loadscope_engine::dataset::{Digits, ListDataset};
use loadscope_engine::pin::{Lease, Pinner};
use loadscope_engine::value::Value;
use loadscope_engine::{Batch, LoaderBuilder, LoaderError};
use loadscope_trace::PinMemory;
use support::within;

#[test]
fn a_pinning_panic_is_the_error_of_its_batch() {
    struct Slippery(usize);
    impl Batch for Slippery {
        fn pin(self, _: &Pinner) -> Result<(Self, Lease), LoaderError> {
            assert_ne!(self.0, 1, "it slips");
            Ok((self, Lease::default()))
        }
    }
    fn first(samples: Vec<usize>) -> Result<Slippery, LoaderError> {
        Ok(Slippery(samples[0]))
    }
    within(60, || {
        for num_workers in [0, 2] {
            let numbers: ListDataset<usize> = (0..4).collect();
            let mut loader = LoaderBuilder::new(Arc::new(numbers))
                .num_workers(num_workers)
                .pin_memory(PinMemory::Mlock)
                .collate_fn(first)
                .build()
                .expect("memory can be locked");
            let batches = loader.iter().expect("threads start");
            let got: Vec<bool> = batches.map(|b| b.is_ok()).collect();
            assert_eq!(got, [true, false, true, true]);
        }
    });
}

/// Compares with `_pin_memory_loop` of torch/utils/data/_utils/pin_memory.py, in which the pin thread wraps the error.
///
/// PyTorch's main process, which pins if there are no workers, does not wrap it.
#[test]
fn a_pinning_error_has_pytorchs_text() {
    struct Stiff(usize);
    impl Batch for Stiff {
        fn pin(self, _: &Pinner) -> Result<(Self, Lease), LoaderError> {
            match self.0 {
                1 => Err(LoaderError::value_error("it does not move")),
                _ => Ok((self, Lease::default())),
            }
        }
    }
    fn first(samples: Vec<usize>) -> Result<Stiff, LoaderError> {
        Ok(Stiff(samples[0]))
    }
    let wrapped = "Caught ValueError in pin memory thread for device 0.\nOriginal ValueError: it does not move";
    within(60, || {
        for (num_workers, expected) in [(0, "it does not move"), (2, wrapped)] {
            let numbers: ListDataset<usize> = (0..4).collect();
            let mut loader = LoaderBuilder::new(Arc::new(numbers))
                .num_workers(num_workers)
                .pin_memory(PinMemory::Mlock)
                .collate_fn(first)
                .build()
                .expect("memory can be locked");
            let batches = loader.iter().expect("threads start");
            let errors: Vec<LoaderError> = batches.filter_map(Result::err).collect();
            let [error] = &errors[..] else {
                panic!("one batch fails: {errors:?}");
            };
            assert_eq!(error.exception_kind().as_str(), "ValueError");
            assert_eq!(error.python_message(), expected);
            if num_workers > 0 {
                assert_eq!(
                    error.to_string(),
                    "ValueError: it does not move (in the pin thread, batch 1)"
                );
            }
        }
    });
}

#[test]
fn page_locked_batches_equal_pageable_batches() {
    within(60, || {
        let mut seen: Vec<Vec<Value>> = Vec::new();
        for (num_workers, pin_memory) in [
            (0, PinMemory::Off),
            (0, PinMemory::Mlock),
            (2, PinMemory::Mlock),
        ] {
            let digits = Arc::new(Digits::new().expect("they are built in"));
            let mut loader = LoaderBuilder::new(digits)
                .batch_size(300)
                .num_workers(num_workers)
                .pin_memory(pin_memory)
                .build()
                .expect("memory can be locked");
            let all: Result<Vec<Value>, _> = loader
                .iter()
                .expect("threads start")
                .map(|b| b.map(|b| b.into_batch()))
                .collect();
            seen.push(all.expect("no sample fails"));
        }
        for other in &seen[1..] {
            assert_eq!(other.len(), 6);
            assert!(seen[0].iter().zip(other).all(|(a, b)| a.same(b)));
        }
    });
}
