//! Choice between timing each sample and timing whole batches.

use loadscope_trace::Nanos;

/// Average sample time below which batches are timed as a whole, ns. Reading the clock takes a tenth of this.
const SHORT: i64 = 200;
/// Average sample time from which each sample is timed again, ns.
const LONG: i64 = 400;
/// Number of successive short batches before whole batches are timed.
///
/// The first batches of an epoch, and all of a short epoch, are always timed sample by sample.
const MIN_SHORT_BATCHES: u32 = 32;

/// Recent sample times of a thread's epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimingGranularity {
    /// Number of successive batches with short samples.
    short: u32,
}

impl TimingGranularity {
    /// Returns true if the next batch is timed as a whole.
    #[inline]
    pub fn is_by_batch(self) -> bool {
        self.short >= MIN_SHORT_BATCHES
    }

    /// Records a batch of `samples` that took `wall`. Returns true if the next batch is the first that is timed as a whole.
    #[inline]
    pub fn record_batch(&mut self, samples: usize, wall: Nanos) -> bool {
        let samples = i64::try_from(samples).unwrap_or(i64::MAX);
        let most = if self.is_by_batch() { LONG } else { SHORT };
        if samples == 0 || wall.0 >= samples.saturating_mul(most) {
            self.reset();
            return false;
        }
        let before = self.short;
        self.short = before.saturating_add(1);
        self.is_by_batch() && before < MIN_SHORT_BATCHES
    }

    /// Returns to timing each sample.
    pub fn reset(&mut self) {
        self.short = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn short(granularity: &mut TimingGranularity, batches: u32) -> u32 {
        let first = |_: &u32| granularity.record_batch(256, Nanos(256 * SHORT - 1));
        (0..batches).filter(first).count() as u32
    }

    #[test]
    fn many_short_samples_switch_to_batch_timing() {
        let mut granularity = TimingGranularity::default();
        assert_eq!(short(&mut granularity, MIN_SHORT_BATCHES - 1), 0);
        assert!(!granularity.is_by_batch());
        assert_eq!(
            short(&mut granularity, 100),
            1,
            "it is the first of them once"
        );
        assert!(granularity.is_by_batch());
    }

    #[test]
    fn a_long_sample_switches_back_to_sample_timing() {
        let mut granularity = TimingGranularity::default();
        short(&mut granularity, MIN_SHORT_BATCHES);
        assert!(!granularity.record_batch(256, Nanos(256 * 20 + 256 * LONG)));
        assert!(!granularity.is_by_batch());
        assert_eq!(short(&mut granularity, MIN_SHORT_BATCHES), 1);
    }

    proptest! {
        #[test]
        fn samples_of_200_ns_or_more_are_always_timed_one_by_one(
            batches in prop::collection::vec((1usize..1000, SHORT..1_000_000), 0..200),
        ) {
            let mut granularity = TimingGranularity::default();
            for (samples, each) in batches {
                prop_assert!(!granularity.record_batch(samples, Nanos(samples as i64 * each)));
                prop_assert!(!granularity.is_by_batch());
            }
        }

        #[test]
        fn extreme_times_do_not_overflow(samples in any::<usize>(), wall in any::<i64>()) {
            let mut granularity = TimingGranularity::default();
            for _ in 0..=MIN_SHORT_BATCHES {
                granularity.record_batch(samples, Nanos(wall));
            }
        }
    }
}
