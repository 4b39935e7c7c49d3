//! Comparison of the generator with libtorch itself, in addition to the recorded cases.

#![allow(clippy::unwrap_used, reason = "a test ends with what went wrong")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints what it measures"
)]

use std::sync::{Mutex, PoisonError};

use loadscope_engine::rng::{Generator, RANDPERM_WIDE};
use proptest::prelude::*;
use tch::{Device, Kind, Tensor};

/// Lock for libtorch's seed, which is global to the process.
static LIBTORCH: Mutex<()> = Mutex::new(());

const INT64: (Kind, Device) = (Kind::Int64, Device::Cpu);

fn numbers(tensor: Tensor) -> Vec<i64> {
    Vec::try_from(tensor).unwrap()
}

proptest! {
    #[test]
    fn draws_match_libtorch(
        seed: i64,
        n in 0i64..3000,
        low in -1000i64..1000,
        range in prop_oneof![1i64..100, 1i64..1 << 40, (1i64 << 28) - 2..(1 << 28) + 2],
        count in 0i64..50,
    ) {
        let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
        tch::manual_seed(seed);
        let mut ours = Generator::new(seed as u64);
        let permutation: Vec<i64> = ours.randperm(n as usize).unwrap().iter().map(|i| i as i64).collect();
        prop_assert_eq!(permutation, numbers(Tensor::randperm(n, INT64)));
        let integers = ours.randint(low, low + range, count as usize).unwrap();
        prop_assert_eq!(integers, numbers(Tensor::randint_low(low, low + range, [count], INT64)));
        let uniform: Vec<f64> = (0..count).map(|_| ours.rand_f64()).collect();
        let theirs = Vec::<f64>::try_from(Tensor::rand([count], (Kind::Double, Device::Cpu))).unwrap();
        prop_assert_eq!(uniform, theirs);
        let uniform: Vec<f32> = (0..count).map(|_| ours.rand_f32()).collect();
        let theirs = Vec::<f32>::try_from(Tensor::rand([count], (Kind::Float, Device::Cpu))).unwrap();
        prop_assert_eq!(uniform, theirs);
        let base_seed = numbers(Tensor::empty([1], INT64).random_());
        prop_assert_eq!(vec![ours.random_i64()], base_seed);
    }
}

/// Returns true if libtorch's draws without replacement can be compared on this host.
///
/// On Intel processors, libtorch builds take the numbers from an Intel library.
/// On systems other than Linux, libtorch sorts equal scores differently.
fn draws_without_replacement_compare() -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let why = if info.contains("GenuineIntel") {
        "on Intel's processors libtorch draws them from another stream"
    } else if cfg!(not(target_os = "linux")) {
        "the order of equal scores is known for Linux only"
    } else {
        return true;
    };
    println!("left out: draws without replacement; {why}");
    false
}

/// Generates typical weights, some of them 0 and some equal.
fn weights() -> impl Strategy<Value = Vec<f64>> {
    let weight = prop_oneof![3 => 0.001..5.0, 1 => Just(0.0), 1 => Just(1.0), 1 => 1e-300..1e300];
    prop::collection::vec(weight, 1..400)
}

/// Returns libtorch's draws, and the next number of its generator.
fn multinomial_of_libtorch(
    seed: i64,
    weights: &[f64],
    count: i64,
    replacement: bool,
) -> Option<(Vec<i64>, i64)> {
    tch::manual_seed(seed);
    let drawn = Tensor::from_slice(weights)
        .f_multinomial(count, replacement)
        .ok()?;
    Some((
        numbers(drawn),
        numbers(Tensor::empty([1], INT64).random_())[0],
    ))
}

fn multinomial_of_ours(
    seed: i64,
    weights: &[f64],
    count: i64,
    replacement: bool,
) -> Option<(Vec<i64>, i64)> {
    let mut generator = Generator::new(seed as u64);
    let drawn = generator
        .multinomial(weights, count as usize, replacement)
        .ok()?;
    Some((
        drawn.iter().map(|i| i as i64).collect(),
        generator.random_i64(),
    ))
}

proptest! {
    #[test]
    fn weighted_draws_match_libtorch(seed: i64, weights in weights(), count in 1i64..500, replacement: bool) {
        let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
        let by_category = !replacement || count == 1;
        if by_category && !draws_without_replacement_compare() {
            return Ok(());
        }
        prop_assert_eq!(
            multinomial_of_ours(seed, &weights, count, replacement),
            multinomial_of_libtorch(seed, &weights, count, replacement)
        );
    }

    /// Compares ties: nearly all weights are 0, so the order of equal scores shows. The counts cover every sorting algorithm.
    #[test]
    fn weighted_draws_with_ties_match_libtorch(
        seed: i64,
        heavy in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        len in 1usize..3000,
        count in prop_oneof![1i64..60, 1i64..3000],
    ) {
        let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
        if !draws_without_replacement_compare() {
            return Ok(());
        }
        let mut weights = vec![0.0; len];
        for index in heavy {
            weights[index.index(len)] = 1.0;
        }
        prop_assert_eq!(
            multinomial_of_ours(seed, &weights, count, false),
            multinomial_of_libtorch(seed, &weights, count, false)
        );
    }

    #[test]
    fn weighted_draw_errors_match_libtorch(
        weights in prop::collection::vec(
            prop_oneof![Just(0.0), Just(1.0), Just(-1.0), Just(f64::NAN), Just(f64::INFINITY), Just(-0.0), Just(1e308)],
            0..4,
        ),
        count in 1i64..6,
        replacement: bool,
    ) {
        let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = Tensor::from_slice(&weights).f_multinomial(count, replacement);
        let ours = Generator::new(0).multinomial(&weights, count as usize, replacement);
        match (theirs, ours) {
            (Ok(_), Ok(_)) => {}
            (Err(theirs), Err(ours)) => {
                let ours = ours.to_string();
                let ours = ours.strip_prefix("RuntimeError: ").unwrap_or(&ours);
                let theirs = theirs.to_string();
                prop_assert!(theirs.contains(ours), "{} instead of {}", ours, theirs);
            }
            (theirs, ours) => prop_assert!(false, "{:?} instead of {:?}", ours, theirs),
        }
    }
}

/// Draws from more categories than `torch.multinomial` allows. The draws continue the same way.
#[test]
fn more_than_2_pow_24_categories_can_be_drawn() {
    let most = 1 << 24;
    let mut weights = vec![0.0; most + 1];
    for i in [3, most - 1, most] {
        weights[i] = 1.0 + i as f64;
    }
    let theirs = Tensor::from_slice(&weights).f_multinomial(2, false);
    assert!(
        theirs
            .unwrap_err()
            .to_string()
            .contains("number of categories cannot exceed 2^24")
    );
    let mut generator = Generator::new(1);
    let with: Vec<usize> = generator
        .multinomial(&weights, 1000, true)
        .unwrap()
        .iter()
        .collect();
    assert!(with.iter().all(|&i| weights[i] > 0.0) && with.contains(&most));
    let without: Vec<usize> = generator
        .multinomial(&weights, 5, false)
        .unwrap()
        .iter()
        .collect();
    let (mut heavy, light) = (without[..3].to_vec(), &without[3..]);
    heavy.sort_unstable();
    assert_eq!(heavy, [3, most - 1, most]);
    assert_eq!(light, [0, 1], "equal scores in the order of their numbers");
    assert_eq!(generator.multinomial(&weights, 1, true).unwrap().len(), 1);
}

/// Compares lists that are long enough for the faster search and sorting algorithms.
#[test]
fn draws_of_200_000_weights_match_libtorch() {
    let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
    let without = draws_without_replacement_compare();
    let weights: Vec<f64> = (0..200_000).map(|i| f64::from(i % 97) + 0.25).collect();
    for (count, replacement) in [
        (200_000, true),
        (100, true),
        (200_000, false),
        (1000, false),
        (100_000, false),
    ] {
        if replacement || without {
            assert_eq!(
                multinomial_of_ours(3, &weights, count, replacement),
                multinomial_of_libtorch(3, &weights, count, replacement),
                "{count} {replacement}"
            );
        }
    }
}

/// Compares both sides of the length from which permutations use 64 bits per step. The test needs 3 GB and a minute.
#[test]
#[ignore = "slow"]
fn long_permutations_match_libtorch() {
    let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
    for n in [RANDPERM_WIDE - 1, RANDPERM_WIDE] {
        tch::manual_seed(7);
        let theirs = Tensor::randperm(n as i64, INT64);
        let mut generator = Generator::new(7);
        let ours = generator.randperm(n).unwrap();
        for position in (0..n).step_by(997) {
            assert_eq!(
                ours.get(position),
                usize::try_from(theirs.int64_value(&[position as i64])).ok(),
                "n {n} position {position}"
            );
        }
        drop(theirs);
        assert_eq!(
            generator.random_i64(),
            numbers(Tensor::empty([1], INT64).random_())[0]
        );
    }
}
