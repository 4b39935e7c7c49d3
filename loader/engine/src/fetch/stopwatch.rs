//! Timing of samples at a cost that is acceptable even for samples of a few nanoseconds.
//!
//! One reading of the clock per sample suffices, because the end of a sample is the start of the next. A reading takes
//! about 30 ns, several times the time of copying a number. Short samples are therefore measured in blocks. A block that took
//! less than [`SHORT`] makes the next block four times as large. The time of a block is divided evenly: the sum is
//! exact, and each sample has the mean of its block. A block that takes [`LONG`] returns to blocks of one sample, and
//! every batch begins with these. The first stage of a sample with stages marks the end of the preceding samples. Such
//! a sample is always measured alone, so the time of a cache miss is not shared with cache hits.

use loadscope_trace::{Nanos, SampleTiming};

use crate::clock::Clock;
use crate::cpu::thread_cpu_time;

/// Minimum time of a block, below which the next block is larger.
const SHORT: Nanos = Nanos(1_000);
/// Time of a block from which blocks of one sample are used again.
const LONG: Nanos = Nanos(4_000);
/// Maximum number of samples per block, so that a slow sample is noticed soon.
const MAX_BLOCK: usize = 16;
/// Minimum wall time of a sample for a CPU time reading.
///
/// The reading is a system call of 0.25 µs, which would dominate the time of shorter samples.
const MIN_WALL_FOR_CPU: Nanos = Nanos(20_000);

/// End of one sample and start of the next.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    at: Nanos,
    /// CPU time of the thread, if it was read.
    cpu: Option<Nanos>,
}

/// Timer of the samples of one batch.
#[derive(Debug)]
pub(super) struct Stopwatch<'a> {
    clock: &'a Clock,
    timings: Vec<SampleTiming>,
    /// Last reading of the clock.
    boundary: Option<Boundary>,
    /// Number of samples that ended since the last reading.
    waiting: usize,
    /// Number of samples per block.
    block: usize,
}

impl<'a> Stopwatch<'a> {
    pub fn new(clock: &'a Clock) -> Self {
        Self {
            clock,
            timings: Vec::new(),
            boundary: None,
            waiting: 0,
            block: 1,
        }
    }

    /// Reserves memory for `samples` samples.
    pub fn reserve(&mut self, samples: usize) {
        self.timings.reserve(samples);
    }

    /// Begins a sample. The thread's work since the end of the previous sample counts for this one.
    #[inline]
    pub fn begin(&mut self) {
        if self.boundary.is_none() {
            let cpu = thread_cpu_time();
            let at = self.clock.now();
            self.boundary = Some(Boundary { at, cpu });
        }
    }

    /// Ends a sample. If `alone`, the stopwatch measures this sample and the next one separately.
    #[inline]
    pub fn end(&mut self, alone: bool) {
        self.waiting += 1;
        if alone || self.waiting >= self.block {
            let wall = self.close();
            self.block = match wall {
                _ if alone || wall >= LONG => 1,
                _ if wall < SHORT => (self.block * 4).min(MAX_BLOCK),
                _ => self.block,
            };
        }
    }

    /// Ends a sample with stages. The first stage began at `at`, where the preceding samples ended.
    pub fn end_staged(&mut self, at: Nanos) {
        if self.waiting > 0
            && let Some(begin) = self.boundary
        {
            let at = at.max(begin.at);
            let before = std::mem::take(&mut self.waiting);
            self.divide(begin.at, at - begin.at, before, None);
            self.boundary = Some(Boundary { at, cpu: None });
        }
        self.end(true);
    }

    /// Ends the current block and returns the total time of all samples.
    pub fn total_wall(&mut self) -> Nanos {
        if self.waiting > 0 {
            self.close();
        }
        let sum = self.timings.iter().map(|timing| timing.wall.0).sum();
        Nanos(sum)
    }

    /// Returns the measured times, one per sample, and resets the stopwatch.
    ///
    /// If `failed`, the last sample did not end. Other samples of its block are dropped, because their share of the time is unknown.
    pub fn take(&mut self, failed: bool) -> Vec<SampleTiming> {
        if !failed && self.waiting > 0 {
            self.close();
        }
        (self.boundary, self.waiting, self.block) = (None, 0, 1);
        std::mem::take(&mut self.timings)
    }

    /// Ends the block, divides its time among its samples and returns it.
    fn close(&mut self) -> Nanos {
        let end = self.clock.now();
        let samples = std::mem::take(&mut self.waiting);
        let next = Boundary { at: end, cpu: None };
        let Some(begin) = self.boundary.replace(next) else {
            return Nanos::ZERO;
        };
        let wall = end - begin.at;
        let mut cpu = None;
        if samples == 1 && wall >= MIN_WALL_FOR_CPU {
            let now = thread_cpu_time();
            cpu = now.zip(begin.cpu).map(|(now, begin)| now - begin);
            // The time of this reading belongs to no sample.
            let at = self.clock.now();
            self.boundary = Some(Boundary { at, cpu: now });
        }
        self.divide(begin.at, wall, samples, cpu);
        wall
    }

    /// Records `samples` entries that took `wall` together.
    fn divide(&mut self, start: Nanos, wall: Nanos, samples: usize, cpu: Option<Nanos>) {
        let count = i64::try_from(samples).unwrap_or(i64::MAX).max(1);
        let (each, mut rest) = (wall.0 / count, wall.0 % count);
        let mut start = start;
        self.timings.extend((0..samples).map(|_| {
            // The first samples get the remainder in nanoseconds, so that the sum is exact.
            let wall = Nanos(each + i64::from(rest > 0));
            rest -= 1;
            let timing = SampleTiming { start, wall, cpu };
            start += wall;
            timing
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn quick(watch: &mut Stopwatch<'_>, samples: usize) {
        for _ in 0..samples {
            watch.begin();
            watch.end(false);
        }
    }

    fn slow(watch: &mut Stopwatch<'_>) {
        watch.begin();
        std::thread::sleep(Duration::from_millis(3));
        watch.end(false);
    }

    /// Returns the positions of all samples of at least `least`.
    fn longer(timings: &[SampleTiming], least: Nanos) -> Vec<usize> {
        let long = |(at, t): (usize, &SampleTiming)| (t.wall >= least).then_some(at);
        timings.iter().enumerate().filter_map(long).collect()
    }

    proptest! {
        #[test]
        fn block_time_is_divided_without_remainder(start in 0i64..1_000, wall in 0i64..100_000, samples in 1usize..300) {
            let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
            watch.divide(Nanos(start), Nanos(wall), samples, None);
            let timings = watch.take(false);
            prop_assert_eq!(timings.len(), samples);
            let mut at = Nanos(start);
            for timing in &timings {
                prop_assert_eq!(timing.start, at);
                prop_assert!((timing.wall.0 - wall / samples as i64).abs() <= 1);
                at += timing.wall;
            }
            prop_assert_eq!(at, Nanos(start + wall));
        }

        #[test]
        fn every_sample_has_a_timing(samples in 0usize..2_000) {
            let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
            let begin = watch.clock.now();
            quick(&mut watch, samples);
            let timings = watch.take(false);
            let end = watch.clock.now();
            prop_assert_eq!(timings.len(), samples);
            prop_assert!(timings.windows(2).all(|two| two[0].start + two[0].wall <= two[1].start));
            prop_assert!(timings.first().is_none_or(|first| first.start >= begin));
            prop_assert!(timings.last().is_none_or(|last| last.start + last.wall <= end));
            prop_assert!(watch.take(false).is_empty());
        }
    }

    #[test]
    fn slow_samples_are_measured_one_by_one() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        slow(&mut watch);
        quick(&mut watch, 1);
        slow(&mut watch);
        let timings = watch.take(false);
        let long = Nanos(2_900_000);
        assert_eq!(timings.len(), 3);
        assert!(timings[0].wall >= long);
        assert!(timings[0].cpu.is_none_or(|cpu| cpu < timings[0].wall));
        let sum: i64 = timings.iter().map(|timing| timing.wall.0).sum();
        assert!(sum >= 2 * long.0);
    }

    #[test]
    fn slow_samples_end_the_timing_by_block() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        quick(&mut watch, 500);
        slow(&mut watch);
        quick(&mut watch, 500);
        // These samples fill the current block, so that the next block is recognized as long.
        while watch.block > 1 {
            slow(&mut watch);
        }
        let before = watch.timings.len();
        slow(&mut watch);
        let timings = watch.take(false);
        assert_eq!(timings.len(), before + 1);
        assert_eq!(
            longer(&timings, Nanos(2_900_000)).last(),
            Some(&before),
            "the last one is alone"
        );
    }

    #[test]
    fn a_sample_with_stages_is_timed_alone() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        watch.block = MAX_BLOCK;
        quick(&mut watch, MAX_BLOCK - 1);
        assert_eq!(
            watch.waiting,
            MAX_BLOCK - 1,
            "it comes in the middle of a block"
        );
        watch.begin();
        let at = watch.clock.now();
        std::thread::sleep(Duration::from_millis(3));
        watch.end_staged(at);
        quick(&mut watch, 10);
        let timings = watch.take(false);
        assert_eq!(timings.len(), MAX_BLOCK + 10);
        assert_eq!(timings[MAX_BLOCK - 1].start, at);
        assert_eq!(
            timings[MAX_BLOCK - 2].start + timings[MAX_BLOCK - 2].wall,
            at
        );
        assert!(timings[MAX_BLOCK - 1].wall >= Nanos(2_900_000));
    }

    #[test]
    fn samples_in_the_block_of_a_failure_are_left_out() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        quick(&mut watch, 100);
        let known = watch.timings.len();
        watch.begin();
        assert_eq!(watch.take(true).len(), known);
    }
}
