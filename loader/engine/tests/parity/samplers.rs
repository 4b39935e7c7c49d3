//! Cases of samplers and of their draws.

use std::sync::Arc;

use loadscope_engine::rng::{SharedGenerator, lock_generator, shared_generator};
use loadscope_engine::sampler::{
    BatchSampler, BatchSource, RandomSampler, RandomSource, Sampler, SequentialSampler,
    SubsetRandomSampler,
};
use serde_json::{Value as Json, json};

use super::random::seed_of;
use super::verdict::{Case, Verdict, list_verdict};

/// Returns the random source of a case. `rng` selects a given generator or the default one.
pub fn source(input: &Json, generator: &SharedGenerator) -> RandomSource {
    match input["rng"].as_str() {
        Some("default") => RandomSource::Default(generator.clone()),
        _ => RandomSource::Generator(generator.clone()),
    }
}

fn epoch(sampler: &dyn Sampler) -> Vec<i64> {
    sampler.iter().map(|index| index.unwrap() as i64).collect()
}

/// Compares epochs of a sampler, then the generator's next draw.
pub fn drained(case: &Case<'_>, sampler: &dyn Sampler, generator: &SharedGenerator) -> Verdict {
    drained_by(case, sampler.len(), generator, || epoch(sampler))
}

fn drained_by(
    case: &Case<'_>,
    len: usize,
    generator: &SharedGenerator,
    mut epoch: impl FnMut() -> Vec<i64>,
) -> Verdict {
    let out = case.out();
    for expected in out["epochs"].as_array().unwrap() {
        match list_verdict(expected, &epoch()) {
            Verdict::Pass => {}
            other => return other,
        }
    }
    let after = json!([len, lock_generator(generator).random_i64()]);
    Verdict::equal(&json!([out["len"], out["next_i64"]]), &after)
}

fn random(case: &Case<'_>, generator: &SharedGenerator) -> Verdict {
    let input = case.input;
    let sampler = RandomSampler::new(
        input["n"].as_u64().unwrap() as usize,
        input["replacement"].as_bool().unwrap(),
        input["num_samples"].as_i64(),
        source(input, generator),
    );
    drained(case, &sampler.unwrap(), generator)
}

/// Checks a `SubsetRandomSampler`. Its elements may be negative, so they are not indices.
fn subset(case: &Case<'_>, generator: &SharedGenerator) -> Verdict {
    let indices = case.input["indices"].as_array().unwrap();
    let indices: Vec<i64> = indices.iter().map(|i| i.as_i64().unwrap()).collect();
    let sampler = SubsetRandomSampler::new(indices, source(case.input, generator));
    drained_by(case, sampler.len(), generator, || {
        sampler.elements().map(Result::unwrap).collect()
    })
}

/// Compares the generator before and after the end of an epoch.
fn partial(input: &Json, out: &Json) -> Verdict {
    let generator = shared_generator(seed_of(input));
    let draw = || lock_generator(&generator).random_i64();
    let source = RandomSource::Generator(generator.clone());
    let n = input["n"].as_u64().unwrap() as usize;
    let mut indices = RandomSampler::new(n, false, None, source).unwrap().iter();
    let take = input["take"].as_u64().unwrap() as usize;
    let items: Vec<usize> = indices.by_ref().take(take).map(Result::unwrap).collect();
    let before = draw();
    let exhausted = indices.next().is_none();
    let actual = json!({
        "items": items, "i64_before_exhaust": before, "exhausted": exhausted, "i64_after_exhaust": draw(),
    });
    Verdict::equal(out, &actual)
}

pub fn check(case: &Case<'_>) -> Verdict {
    let (input, out) = (case.input, case.out());
    let n = input["n"].as_u64().unwrap_or(0) as usize;
    let generator = shared_generator(input.get("seed").map_or(0, |_| seed_of(input)));
    match case.op {
        "RandomSampler" => random(case, &generator),
        "SubsetRandomSampler" => subset(case, &generator),
        "RandomSampler_partial" => partial(input, out),
        "SequentialSampler" => list_verdict(out, &epoch(&SequentialSampler::new(n))),
        "BatchSampler" => {
            let sampler = BatchSampler::new(
                Arc::new(SequentialSampler::new(n)),
                input["batch_size"].as_i64().unwrap(),
                input["drop_last"].as_bool().unwrap(),
            )
            .unwrap();
            let batches: Vec<_> = sampler.iter().map(Result::unwrap).collect();
            let actual = json!({"len": sampler.len(), "batches": batches});
            Verdict::equal(out, &actual)
        }
        _ => Verdict::fail("a check of this case", case.op),
    }
}
