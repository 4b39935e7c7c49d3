//! A dataset with a given cost per sample.

use std::time::Instant;

use tch::{Kind, Tensor};

use super::simulated_cost::simulate_cost;
use super::{CostModel, Dataset, SampleClock, SampleError};
use crate::value::{Value, new_tensor};

/// Samples of a [`CostModel`]: `(uint8 of its shape, int)`. The int is the sample's index.
///
/// The image depends on the index and is the same in every run.
#[derive(Clone, Debug)]
pub struct Synthetic {
    model: CostModel,
}

impl Synthetic {
    /// Creates a dataset of that cost.
    pub fn new(model: CostModel) -> Self {
        Self { model }
    }

    /// Returns the cost model.
    pub fn model(&self) -> &CostModel {
        &self.model
    }

    fn picture(&self, index: usize) -> Result<Tensor, tch::TchError> {
        let shape = &self.model.shape;
        // The last two sizes are height and width. All preceding ones are channels.
        let width = shape.last().map_or(1, |&w| w as usize);
        let height = shape
            .len()
            .checked_sub(2)
            .map_or(1, |at| shape[at] as usize);
        new_tensor(shape, Kind::Uint8, |bytes| {
            for (channel, plane) in bytes.chunks_mut(width * height).enumerate() {
                // Each index has its own color, brighter towards one corner.
                let base = self.model.uniform(index, 3 + channel as u64) * 128.0;
                let slope = 127.0 / (width + height).max(2) as f64;
                for (y, row) in plane.chunks_mut(width).enumerate() {
                    let start = base + slope * y as f64;
                    for (x, pixel) in row.iter_mut().enumerate() {
                        *pixel = (start + slope * x as f64) as u8;
                    }
                }
            }
        })
    }
}

impl Dataset for Synthetic {
    type Sample = Value;

    fn len(&self) -> usize {
        self.model.len
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<Value, SampleError> {
        // The cost includes all work of the sample.
        let start = Instant::now();
        if index >= self.model.len {
            return Err(SampleError::out_of_range(index, self.model.len));
        }
        let picture = clock.stage("fill", || self.picture(index));
        simulate_cost(&self.model, index, start, clock)?;
        match picture {
            Ok(picture) => Ok((picture, index as i64).into()),
            Err(e) => Err(SampleError::new("RuntimeError", e.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn data(text: &str) -> Synthetic {
        Synthetic::new(text.parse().unwrap())
    }

    #[test]
    fn equal_indices_give_equal_samples() {
        let mut clock = SampleClock::off();
        let (a, b) = (data("cost_ms=0"), data("cost_ms=0"));
        for index in 0..10 {
            let sample = a.get(index, &mut clock).unwrap();
            assert!(sample.same(&b.get(index, &mut clock).unwrap()));
            assert!(!sample.same(&b.get(index + 1, &mut clock).unwrap()));
        }
        for shape in ["1", "7", "2x3", "1x8x8", "2x2x2x2x2"] {
            let sample = data(&format!("cost_ms=0,shape={shape}"))
                .get(0, &mut clock)
                .unwrap();
            let size: Vec<String> = sample.tensors()[0]
                .size()
                .iter()
                .map(i64::to_string)
                .collect();
            assert_eq!(size.join("x"), shape);
        }
    }

    #[test]
    fn configured_samples_fail_or_panic() {
        let mut clock = SampleClock::off();
        let data = data("len=10,cost_ms=0,fail=7;2,panic=9");
        for index in [2, 7] {
            assert_eq!(data.get(index, &mut clock).unwrap_err().kind, "ValueError");
        }
        assert_eq!(data.get(10, &mut clock).unwrap_err().kind, "IndexError");
        let panics = std::panic::catch_unwind(|| data.get(9, &mut SampleClock::off()).is_ok());
        assert!(panics.is_err());
    }

    #[test]
    fn a_sample_takes_its_configured_time() {
        for (text, stage) in [("cost_ms=5", "sleep"), ("cost_ms=5,cpu=true", "compute")] {
            let data = data(text);
            let mut clock = SampleClock::on();
            for index in 0..5 {
                clock.begin_sample();
                let start = Instant::now();
                data.get(index, &mut clock).unwrap();
                assert!(start.elapsed() >= Duration::from_millis(5), "{text}");
            }
            let stages = clock.take_stages();
            assert_eq!(stages.len(), 2);
            assert_eq!(stages[1].0, stage);
            assert_eq!(stages[1].1.len(), 5);
        }
    }
}
