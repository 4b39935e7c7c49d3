//! Cases of worker control: the worker of each batch, and the iterator's indices.

use std::sync::Arc;
use std::time::Duration;

use loadscope_engine::LoaderBuilder;
use serde_json::{Value as Json, json};

use super::iterable::described;
use super::loader::configure;
use super::rows::{Idx, indices, list, number};
use super::verdict::{Case, Verdict};

fn map_trace(input: &Json) -> Json {
    let sleep = input["sample_ms"].as_array().expect("times");
    let sleep = sleep
        .iter()
        .map(|ms| Duration::from_secs_f64(ms.as_f64().unwrap_or(0.0) / 1e3));
    let data = Idx {
        n: number(&input["n"]),
        sleep: sleep.collect(),
    };
    // Worker processes start one after another, which decides ties between equally fast ones. Threads start at once.
    let in_turn = |id: usize| {
        std::thread::sleep(Duration::from_millis(4 * id as u64));
        Ok(())
    };
    let builder = configure(LoaderBuilder::new(Arc::new(data)), input).worker_init_fn(in_turn);
    let mut loader = builder.collate_fn(list).build().expect("a loader");
    let mut iter = loader.iter().expect("an epoch");
    let primed = iter.send_idx();
    let mut yields = Vec::new();
    while let Some(rows) = iter.next() {
        let rows = rows.expect("a batch");
        let (send, rcvd) = (iter.send_idx(), iter.rcvd_idx());
        yields.push(json!([indices(&rows, true), rows[0].worker, send, rcvd]));
    }
    json!({"send_idx_after_prime": primed, "yields": yields})
}

/// Checks a case without order, whose outcome depends on time.
///
/// If PyTorch did the same three times, the engine must do it too. Otherwise only the yielded batches and the stuck worker are compared.
fn unordered(case: &Case<'_>) -> Verdict {
    let out = case.out();
    let yields = map_trace(case.input)["yields"].clone();
    let yields = yields.as_array().expect("a list");
    let field = |y: &Json, i: usize| y[i].clone();
    let mut all: Vec<i64> = (yields.iter())
        .flat_map(|y| y[0].as_array().cloned().unwrap_or_default())
        .filter_map(|v| v.as_i64())
        .collect();
    all.sort_unstable();
    let mut verdicts = vec![Verdict::equal(&out["multiset"], &json!(all))];
    let slow = case.input["sample_ms"].as_array().and_then(|times| {
        let slowest = times.iter().filter_map(Json::as_f64).fold(0.0, f64::max);
        times.iter().position(|t| t.as_f64() == Some(slowest))
    });
    let of_slow = yields.iter().find(|y| y[0] == json!([slow]));
    let worker = of_slow.map(|y| field(y, 1)).unwrap_or_default();
    verdicts.push(Verdict::equal(&out["worker_of_slow"][0], &worker));
    let done: Vec<Json> = yields
        .iter()
        .filter(|y| y[1] == worker)
        .map(|y| y[0][0].clone())
        .collect();
    let lists = out["indices_done_by_that_worker"]
        .as_array()
        .expect("lists");
    let alike = lists.windows(2).all(|pair| pair[0] == pair[1]);
    if alike {
        verdicts.push(Verdict::equal(&lists[0], &json!(done)));
    }
    if out["stable_in_3_runs"] == true {
        let pair = |y: &Json| json!([y[0], y[1]]);
        let expected: Vec<Json> = (out["yields_run0"].as_array().expect("a list").iter())
            .map(pair)
            .collect();
        let actual: Vec<Json> = yields.iter().map(pair).collect();
        verdicts.push(Verdict::equal(&json!(expected), &json!(actual)));
    }
    Verdict::all(verdicts)
}

fn iterable_trace(input: &Json) -> Json {
    let builder = configure(LoaderBuilder::iterable(described(input)), input);
    let mut loader = builder.collate_fn(list).build().expect("a loader");
    let mut iter = loader.iter().expect("an epoch");
    let mut yields = Vec::new();
    for rows in iter.by_ref() {
        let rows = rows.expect("a batch");
        yields.push(json!([indices(&rows, true), rows[0].worker]));
    }
    let status = iter.workers_status();
    json!({"yields": yields, "workers_status_end": status})
}

pub fn check(case: &Case<'_>) -> Verdict {
    match case.op {
        "map_trace" => case.returns(&map_trace(case.input)),
        "map_trace_unordered" => unordered(case),
        "iterable_variables" => super::stream_variables::check(case),
        "iterable_trace" => case.returns(&iterable_trace(case.input)),
        _ => Verdict::fail("a check of this case", case.op),
    }
}
