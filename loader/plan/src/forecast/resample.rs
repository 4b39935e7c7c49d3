//! Uncertainty of a forecast by resampling: the recorded samples are drawn again.

use loadscope_trace::Nanos;

use super::load::{Costs, Draft, EpochLoad, Load};
use super::number::{self, uniform};
use super::recorded::EpochCosts;
use super::{Recorded, Setting};

/// Number of resamplings.
const RESAMPLES: usize = 20;
/// Maximum number of batches per resampling, over all epochs. More do not improve the estimate of the spread.
const MAX_BATCHES: usize = 100;

/// Resampled loads. They depend on the samples, not on the number of workers.
#[derive(Clone, Debug)]
pub(super) struct Resampled {
    loads: Vec<Load>,
    /// Ratio of the spread of all batches to the spread of the resampled ones.
    shrink: f64,
}

/// Resamples the samples of `recorded`.
pub(super) fn resampled(recorded: &Recorded, setting: &Setting, load: &Load) -> Resampled {
    let costs = Costs::new(recorded, setting);
    let all = load.epochs.iter().map(|e| {
        let weight = e.weight;
        e.tasks.len() as f64 * weight.batches * weight.epochs
    });
    let all: f64 = all.sum();
    let each = (MAX_BATCHES / load.epochs.len().max(1)).max(16);
    let drafts: Vec<Vec<Draft>> = recorded.epochs.iter().map(|e| costs.drafts(e)).collect();
    let mut rng = Rng(0);
    let mut some = 0;
    let loads = (0..RESAMPLES).map(|_| {
        let epochs = recorded.epochs.iter().zip(&drafts);
        let epochs: Vec<EpochLoad> = epochs
            .map(|(epoch, drafts)| draw_epoch(&costs, epoch, drafts, each, &mut rng))
            .collect();
        some = epochs.iter().map(|e| e.tasks.len()).sum();
        Load { epochs }
    });
    let loads = loads.collect();
    Resampled {
        loads,
        shrink: (some as f64 / all.max(1.0)).sqrt(),
    }
}

/// Returns an epoch of at most `most` batches with samples drawn from all of `drafts`.
fn draw_epoch(
    costs: &Costs,
    epoch: &EpochCosts,
    drafts: &[Draft],
    most: usize,
    rng: &mut Rng,
) -> EpochLoad {
    let samples: Vec<(f64, f64)> = drafts.iter().flat_map(|d| &d.samples).copied().collect();
    let steps = costs.steps(epoch, drafts);
    let drawn: Vec<Draft> = drafts
        .iter()
        .take(most)
        .map(|draft| {
            let other = rng.choose(drafts).cloned().unwrap_or_default();
            Draft {
                samples: (draft.samples.iter())
                    .map(|own| rng.choose(&samples).copied().unwrap_or(*own))
                    .collect(),
                rest: other.rest,
                off: other.off,
                pin: other.pin,
                worker: draft.worker,
                fails: false,
            }
        })
        .collect();
    let steps = drawn.iter().filter_map(|_| rng.choose(&steps).copied());
    let steps = steps.collect();
    costs.epoch(drawn, steps)
}

impl Resampled {
    /// Returns the 90 % interval of runs of about `time`. `model_error`: error of the model itself, as a share.
    pub fn spread(
        &self,
        recorded: &Recorded,
        setting: &Setting,
        time: Nanos,
        model_error: f64,
    ) -> (Nanos, Nanos) {
        let mut times: Vec<f64> = self
            .loads
            .iter()
            .map(|load| number::float(recorded.simulate_all(setting, load).time))
            .collect();
        times.sort_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let (Some(low), Some(high)) = (times.get(1), times.iter().rev().nth(1)) else {
            return (time, time);
        };
        // The sampling error and the model error are independent.
        let combined = |sampled: f64| (sampled * sampled + model_error * model_error).sqrt();
        let share = |of: f64| match mean > 0.0 {
            true => combined((of / mean - 1.0) * self.shrink),
            false => model_error,
        };
        let at = |factor: f64| number::nanos(number::float(time) * factor.max(0.0));
        (at(1.0 - share(*low)), at(1.0 + share(*high)))
    }
}

/// Pseudorandom numbers with a fixed seed.
struct Rng(u64);

impl Rng {
    fn choose<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        self.0 += 1;
        list.get((uniform(self.0) * list.len() as f64) as usize)
    }
}
