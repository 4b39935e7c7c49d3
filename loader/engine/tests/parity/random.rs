//! Cases of `torch.Generator`.

use loadscope_engine::rng::{Generator, numpy_seed_state};
use serde_json::{Value as Json, json};

use super::verdict::{Case, Verdict, list_verdict};

/// Returns the seed: 64 bits, signed or unsigned.
pub fn seed_of(input: &Json) -> u64 {
    let seed = &input["seed"];
    seed.as_u64().or(seed.as_i64().map(|s| s as u64)).unwrap()
}

fn count_of(input: &Json) -> usize {
    input["count"].as_u64().unwrap() as usize
}

fn mixed(generator: &mut Generator, steps: &Json) -> Json {
    let step = |step: &Json| {
        let mut done = step.as_array().unwrap().clone();
        let number = |i: usize| step[i].as_i64().unwrap();
        let result = match step[0].as_str().unwrap() {
            "random_i64" => json!(generator.random_i64()),
            "rand_f64_k" => json!(generator.rand_f64_k()),
            "randperm" => {
                let permutation = generator.randperm(number(1) as usize).unwrap();
                json!(permutation.iter().collect::<Vec<_>>())
            }
            "randint" => {
                let count = number(3) as usize;
                json!(generator.randint(number(1), number(2), count).unwrap())
            }
            other => panic!("unknown step {other}"),
        };
        *done.last_mut().unwrap() = result;
        Json::Array(done)
    };
    steps.as_array().unwrap().iter().map(step).collect()
}

fn randperm(input: &Json, out: &Json) -> Verdict {
    let mut generator = Generator::new(seed_of(input));
    let n = input["n"].as_u64().unwrap() as usize;
    let permutation = generator.randperm(n).unwrap();
    let items: Vec<i64> = permutation.iter().map(|i| i as i64).collect();
    Verdict::all([
        list_verdict(&out["perm"], &items),
        Verdict::equal(&out["next_i64"], &json!(generator.random_i64())),
    ])
}

pub fn check(case: &Case<'_>) -> Verdict {
    let (input, out) = (case.input, case.out());
    match case.op {
        "randperm" => return randperm(input, out),
        "numpy_seed_state" => {
            let worker = input["worker_id"].as_u64().unwrap() as u32;
            let base = input["base_seed"].as_u64().unwrap();
            let words = numpy_seed_state(base, worker).map(i64::from);
            return list_verdict(out, &words);
        }
        _ => {}
    }
    let mut g = Generator::new(seed_of(input));
    assert_eq!(g.initial_seed(), seed_of(input));
    if case.op == "mixed" {
        return Verdict::equal(out, &mixed(&mut g, out));
    }
    let count = count_of(input);
    let many = |draw: &mut dyn FnMut() -> i64| -> Vec<i64> { (0..count).map(|_| draw()).collect() };
    match case.op {
        "random_i64" => list_verdict(out, &many(&mut || g.random_i64())),
        "random_i32" => list_verdict(out, &many(&mut || i64::from(g.random_i32()))),
        "rand_f32_k" => list_verdict(out, &many(&mut || i64::from(g.rand_f32_k()))),
        "rand_f64_k" => list_verdict(out, &many(&mut || g.rand_f64_k() as i64)),
        "randint" => {
            let bound = |key: &str| input[key].as_i64().unwrap();
            list_verdict(out, &g.randint(bound("low"), bound("high"), count).unwrap())
        }
        "random_i64_after_skip" => {
            for _ in 0..input["skip_i64"].as_u64().unwrap() {
                g.random_i64();
            }
            list_verdict(out, &many(&mut || g.random_i64()))
        }
        _ => Verdict::fail("a check of this case", case.op),
    }
}
