//! The generator against libtorch itself, as a second witness besides the recorded cases.

use std::sync::{Mutex, PoisonError};

use loadscope_engine::rng::{Generator, RANDPERM_WIDE};
use proptest::prelude::*;
use tch::{Device, Kind, Tensor};

/// libtorch's seed is global to the process.
static LIBTORCH: Mutex<()> = Mutex::new(());

const INT64: (Kind, Device) = (Kind::Int64, Device::Cpu);

fn numbers(tensor: Tensor) -> Vec<i64> {
    Vec::try_from(tensor).unwrap()
}

proptest! {
    #[test]
    fn draws_agree(
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

    #[test]
    fn normal_numbers_agree_nearly(seed: i64, counts in prop::collection::vec(0i64..70, 1..5)) {
        let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
        tch::manual_seed(seed);
        let mut ours = Generator::new(seed as u64);
        for count in counts {
            let theirs = Vec::<f64>::try_from(Tensor::randn([count], (Kind::Double, Device::Cpu))).unwrap();
            for (a, b) in ours.randn_f64(count as usize).into_iter().zip(theirs) {
                prop_assert!((a - b).abs() < 1e-11, "{} {}", a, b);
            }
            let theirs = Vec::<f32>::try_from(Tensor::randn([count], (Kind::Float, Device::Cpu))).unwrap();
            for (a, b) in ours.randn_f32(count as usize).into_iter().zip(theirs) {
                prop_assert!((a - b).abs() < 1e-4, "{} {}", a, b);
            }
        }
        prop_assert_eq!(ours.random_i64(), numbers(Tensor::empty([1], INT64).random_())[0]);
    }
}

/// Both sides of the length from which permutations take 64 bits a step. Needs 3 GB and a minute.
#[test]
#[ignore = "slow"]
fn long_permutations_agree() {
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

/// `cargo test --release -p loadscope-engine -- --ignored --nocapture throughput`
#[test]
#[ignore = "a measurement"]
fn throughput_of_permutations() {
    let _guard = LIBTORCH.lock().unwrap_or_else(PoisonError::into_inner);
    let n = 10_000_000;
    let time = |name: &str, run: &mut dyn FnMut()| {
        let start = std::time::Instant::now();
        run();
        println!("{name}: {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    };
    let mut generator = Generator::new(1);
    time("randperm(1e7)", &mut || drop(generator.randperm(n)));
    time("randperm(1e7) of libtorch", &mut || {
        drop(Tensor::randperm(n as i64, INT64))
    });
    time("1e8 raw words", &mut || {
        for _ in 0..100_000_000 {
            std::hint::black_box(generator.next_u32());
        }
    });
}
