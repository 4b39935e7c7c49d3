//! Cases of weighted samplers.

use loadscope_engine::rng::{lock_generator, shared_generator};
use loadscope_engine::sampler::{RandomSource, Sampler, WeightedRandomSampler};
use serde_json::{Value as Json, json};

use super::random::seed_of;
use super::sampler_ctor::raised;
use super::samplers::{drained, source};
use super::verdict::{Case, Verdict, list_verdict};

/// Parses weights: in full, as words (`nan`, `inf`), as one repeated number, or as the name of a list in the file.
fn weights(case: &Case<'_>) -> Vec<f64> {
    let named = case.input["weights_ref"].as_str();
    let list = named.map_or(&case.input["weights"], |name| &case.file["weights"][name]);
    match list {
        Json::Array(items) => items
            .iter()
            .map(|w| {
                w.as_f64()
                    .unwrap_or_else(|| w.as_str().unwrap().parse().unwrap())
            })
            .collect(),
        _ => vec![list["repeat"].as_f64().unwrap(); list["n"].as_u64().unwrap() as usize],
    }
}

fn sampler(case: &Case<'_>, source: RandomSource) -> WeightedRandomSampler {
    let num_samples = case.input["num_samples"].as_i64().unwrap();
    let replacement = case.input["replacement"].as_bool().unwrap();
    WeightedRandomSampler::new(weights(case), num_samples, replacement, source).unwrap()
}

pub fn check(case: &Case<'_>) -> Verdict {
    let generator = shared_generator(case.input.get("seed").map_or(0, |_| seed_of(case.input)));
    let direct = || RandomSource::Generator(generator.clone());
    match case.op {
        "WeightedRandomSampler" => {
            let sampler = sampler(case, source(case.input, &generator));
            drained(case, &sampler, &generator)
        }
        "WeightedRandomSampler_zero_ties" => {
            let items = sampler(case, direct()).iter();
            let items: Vec<i64> = items.map(|index| index.unwrap() as i64).collect();
            list_verdict(case.out(), &items)
        }
        "WeightedRandomSampler_iter_error" => {
            let outcome: Result<Vec<usize>, _> = sampler(case, direct()).iter().collect();
            let untouched = lock_generator(&generator).draws() == 0;
            match outcome {
                Err(error) if untouched => raised(case, &error),
                Err(_) => Verdict::fail("no draws before the error", "some"),
                Ok(items) => case.returns(&json!(items)),
            }
        }
        _ => Verdict::fail("a check of this case", case.op),
    }
}
