//! Random streams of a worker.

use super::{Generator, NumpyRandom, PythonRandom, numpy_seed_state};

/// Random streams that PyTorch seeds at the start of a worker: `torch.manual_seed(seed)`, `random.seed(seed)` and
/// `numpy.random.seed(…)`, with `seed = base_seed + worker_id`.
#[derive(Clone, Debug)]
pub struct WorkerRng {
    /// PyTorch's default generator.
    pub torch: Generator,
    /// Python's `random`.
    pub python: PythonRandom,
    /// NumPy's `numpy.random`. Its seed is a hash of the base seed and the worker id.
    pub numpy: NumpyRandom,
}

impl WorkerRng {
    /// Returns the streams of worker `worker_id`.
    pub fn new(base_seed: u64, worker_id: u32) -> Self {
        let seed = base_seed.wrapping_add(u64::from(worker_id));
        Self {
            torch: Generator::new(seed),
            // Python's integers do not overflow.
            python: PythonRandom::new(i128::from(base_seed) + i128::from(worker_id)),
            numpy: NumpyRandom::new(&numpy_seed_state(base_seed, worker_id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    /// Compares with recorded numbers of the three streams in a loader with two workers.
    #[test]
    fn random_streams_match_pytorch_workers() {
        let golden = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/reference/golden/loader_order.json"
        );
        let text = std::fs::read_to_string(golden).unwrap();
        let file: Json = serde_json::from_str(&text).unwrap();
        let cases = file["cases"].as_array().unwrap();
        let mut rows = 0;
        for case in cases.iter().filter(|case| case["op"] == "worker_rng") {
            let persistent = case["in"]["persistent_workers"] == true;
            let mut streams: [Option<WorkerRng>; 2] = [None, None];
            for epoch in case["out"].as_array().unwrap() {
                if !persistent {
                    streams = [None, None];
                }
                for row in epoch
                    .as_array()
                    .unwrap()
                    .iter()
                    .flat_map(|b| b.as_array().unwrap())
                {
                    let number = |column: usize| row[column].as_u64().unwrap();
                    let worker = number(1);
                    let rng = streams[worker as usize]
                        .get_or_insert_with(|| WorkerRng::new(number(2) - worker, worker as u32));
                    assert_eq!(rng.torch.random_i64() as u64, number(3));
                    assert_eq!(rng.python.getrandbits(32), number(4));
                    assert_eq!(rng.numpy.randint_u64(0, 1 << 32).unwrap(), number(5));
                    rows += 1;
                }
            }
        }
        assert!(rows > 0);
    }
}
