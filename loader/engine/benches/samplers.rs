//! Speed of samplers: `cargo bench -p loadscope-engine --bench samplers`.

#![allow(clippy::expect_used, reason = "it ends with what went wrong")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loadscope_engine::rng::shared_generator;
use loadscope_engine::sampler::{
    BatchSampler, BatchSource, DistributedSampler, RandomSampler, RandomSource, Sampler,
    WeightedRandomSampler,
};

const MANY: usize = 10_000_000;
const WEIGHTS: usize = 1_000_000;

fn one_by_one(sampler: &dyn Sampler) {
    for index in sampler.iter() {
        black_box(index).expect("an index");
    }
}

fn in_batches(sampler: &Arc<dyn Sampler>) {
    let batches = BatchSampler::new(Arc::clone(sampler), 64, false).expect("a batch sampler");
    for batch in batches.iter() {
        black_box(batch).expect("a batch");
    }
}

fn both(criterion: &mut Criterion, name: &str, sampler: impl Sampler + 'static) {
    let sampler: Arc<dyn Sampler> = Arc::new(sampler);
    let mut group = criterion.benchmark_group(name);
    group
        .throughput(Throughput::Elements(sampler.len() as u64))
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(5));
    group.bench_function("one by one", |b| b.iter(|| one_by_one(&*sampler)));
    group.bench_function("batches of 64", |b| b.iter(|| in_batches(&sampler)));
    group.finish();
}

fn samplers(criterion: &mut Criterion) {
    let source = || RandomSource::Generator(shared_generator(0));
    let random = RandomSampler::new(MANY, false, None, source()).expect("a sampler");
    both(criterion, "RandomSampler 1e7", random);
    let replaced = RandomSampler::new(MANY, true, None, source()).expect("a sampler");
    both(criterion, "RandomSampler 1e7 with replacement", replaced);
    let distributed = DistributedSampler::new(MANY, 8, 3).expect("a sampler");
    both(
        criterion,
        "DistributedSampler 1e7, rank 3 of 8",
        distributed,
    );
    let weights: Arc<[f64]> = (0..WEIGHTS).map(|i| (i % 97) as f64 + 0.5).collect();
    for (replacement, how) in [(true, "with"), (false, "without")] {
        let weights = Arc::clone(&weights);
        let weighted = WeightedRandomSampler::new(weights, WEIGHTS as i64, replacement, source())
            .expect("a sampler");
        both(
            criterion,
            &format!("WeightedRandomSampler 1e6 of 1e6 {how} replacement"),
            weighted,
        );
    }
}

criterion_group!(benches, samplers);
criterion_main!(benches);
