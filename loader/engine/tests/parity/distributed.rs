//! Cases of samplers for several ranks.

use loadscope_engine::LoaderError;
use loadscope_engine::sampler::{DistributedSampler, Sampler};
use serde_json::{Value as Json, json};

use super::random::seed_of;
use super::sampler_ctor::raised;
use super::verdict::{Case, Verdict};

fn sampler(input: &Json, rank: i64) -> Result<DistributedSampler, LoaderError> {
    let n = input["n"].as_u64().unwrap() as usize;
    let mut sampler = DistributedSampler::new(n, input["world"].as_i64().unwrap(), rank)?;
    if let Some(shuffle) = input["shuffle"].as_bool() {
        sampler = sampler.shuffle(shuffle);
    }
    if let Some(drop_last) = input["drop_last"].as_bool() {
        sampler = sampler.drop_last(drop_last);
    }
    if input.get("seed").is_some() {
        sampler = sampler.seed(seed_of(input));
    }
    Ok(sampler)
}

fn items(sampler: &dyn Sampler) -> Vec<usize> {
    sampler.iter().map(Result::unwrap).collect()
}

fn ranks(input: &Json) -> Json {
    let mut attributes = Json::Null;
    let share = |rank| {
        let sampler = sampler(input, rank).unwrap();
        sampler.set_epoch(input["epoch"].as_u64().unwrap());
        attributes = json!([sampler.num_samples(), sampler.total_size(), sampler.len()]);
        items(&sampler)
    };
    let ranks: Vec<_> = (0..input["world"].as_i64().unwrap()).map(share).collect();
    json!({
        "num_samples": attributes[0], "total_size": attributes[1], "len": attributes[2], "ranks": ranks,
    })
}

pub fn check(case: &Case<'_>) -> Verdict {
    let rank = case.input["rank"].as_i64();
    match case.op {
        "DistributedSampler" => case.returns(&ranks(case.input)),
        "DistributedSampler_ctor" => match sampler(case.input, rank.unwrap()) {
            Ok(sampler) => case.returns(&json!(sampler.len())),
            Err(error) => raised(case, &error),
        },
        "DistributedSampler_no_set_epoch" => {
            let sampler = sampler(case.input, rank.unwrap()).unwrap();
            case.returns(&json!([items(&sampler), items(&sampler)]))
        }
        _ => Verdict::fail("a check of this case", case.op),
    }
}
