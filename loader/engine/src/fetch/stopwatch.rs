//! How long samples take, at a cost that samples of a few nanoseconds can bear.
//!
//! Where one sample ends the next one begins, so the clock is read once a sample. Reading it takes some 30 ns, several
//! times as long as copying a number does. So samples are measured in blocks as long as they are that short: a block
//! that took less than [`SHORT`] makes the next one four times as large. The time of a block is divided evenly: the sum is
//! exact, a single sample has the mean of its block, which is off by no more than the block was long. A block that takes
//! [`LONG`] brings back blocks of one sample, and every batch begins with these. A sample that measures stages of its own
//! tells with the first of them where the others ended, so it stands alone wherever it comes: what a cache misses is not
//! shared with what it hits.

use loadscope_trace::{Nanos, SampleTiming};

use crate::clock::Clock;
use crate::cpu::thread_cpu_time;

/// A block shorter than this tells too little for what reading the clock costs.
const SHORT: Nanos = Nanos(1_000);
/// In a block longer than this some sample was not short at all.
const LONG: Nanos = Nanos(4_000);
/// Samples of a block at most: so many it may be before a slow one is noticed.
const MOST: usize = 16;
/// Asking for the CPU time is a system call of a quarter of a microsecond. For samples shorter than this, the asking would be
/// what is measured.
const WORTH_CPU: Nanos = Nanos(20_000);

/// Where one sample ended and the next begins.
#[derive(Clone, Copy, Debug)]
struct Boundary {
    at: Nanos,
    /// CPU time of the thread, if it was asked for.
    cpu: Option<Nanos>,
}

/// Measures the samples of one batch.
#[derive(Debug)]
pub(super) struct Stopwatch<'a> {
    clock: &'a Clock,
    timings: Vec<SampleTiming>,
    /// The last reading.
    boundary: Option<Boundary>,
    /// Samples that ended since.
    waiting: usize,
    /// Samples that are measured together.
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

    /// So many samples are expected.
    pub fn expect(&mut self, samples: usize) {
        self.timings.reserve(samples);
    }

    /// A sample begins. What the thread did since the end of the one before counts as part of it.
    #[inline]
    pub fn begin(&mut self) {
        if self.boundary.is_none() {
            let cpu = thread_cpu_time();
            let at = self.clock.now();
            self.boundary = Some(Boundary { at, cpu });
        }
    }

    /// A sample has ended; `alone` = it and the next one are not to be measured together with others.
    #[inline]
    pub fn end(&mut self, alone: bool) {
        self.waiting += 1;
        if alone || self.waiting >= self.block {
            let wall = self.close();
            self.block = match wall {
                _ if alone || wall >= LONG => 1,
                _ if wall < SHORT => (self.block * 4).min(MOST),
                _ => self.block,
            };
        }
    }

    /// A sample has ended that measured stages, the first of which began at `at`: the samples before it ended there.
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

    /// How long all samples took that have ended. Ends their block.
    pub fn so_far(&mut self) -> Nanos {
        if self.waiting > 0 {
            self.close();
        }
        let sum = self.timings.iter().map(|timing| timing.wall.0).sum();
        Nanos(sum)
    }

    /// What was measured, one entry a sample. Starts anew.
    ///
    /// If `failed`, the last sample began and did not end. Samples that would share a block with it are left out: it is
    /// unknown how much of the time was theirs.
    pub fn take(&mut self, failed: bool) -> Vec<SampleTiming> {
        if !failed && self.waiting > 0 {
            self.close();
        }
        (self.boundary, self.waiting, self.block) = (None, 0, 1);
        std::mem::take(&mut self.timings)
    }

    /// Ends the block, gives its samples their time and tells how long it took.
    fn close(&mut self) -> Nanos {
        let end = self.clock.now();
        let samples = std::mem::take(&mut self.waiting);
        let next = Boundary { at: end, cpu: None };
        let Some(begin) = self.boundary.replace(next) else {
            return Nanos::ZERO;
        };
        let wall = end - begin.at;
        let mut cpu = None;
        if samples == 1 && wall >= WORTH_CPU {
            let now = thread_cpu_time();
            cpu = now.zip(begin.cpu).map(|(now, begin)| now - begin);
            // What the asking took belongs to no sample.
            let at = self.clock.now();
            self.boundary = Some(Boundary { at, cpu: now });
        }
        self.divide(begin.at, wall, samples, cpu);
        wall
    }

    /// One entry for each of `samples`, which took `wall` together.
    fn divide(&mut self, start: Nanos, wall: Nanos, samples: usize, cpu: Option<Nanos>) {
        let count = i64::try_from(samples).unwrap_or(i64::MAX).max(1);
        let (each, mut rest) = (wall.0 / count, wall.0 % count);
        let mut start = start;
        self.timings.extend((0..samples).map(|_| {
            // Nanoseconds that do not divide evenly go to the first samples, so that the sum is exact.
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

    /// Nanoseconds of all samples that are at least `least` long.
    fn longer(timings: &[SampleTiming], least: Nanos) -> Vec<usize> {
        let long = |(at, t): (usize, &SampleTiming)| (t.wall >= least).then_some(at);
        timings.iter().enumerate().filter_map(long).collect()
    }

    proptest! {
        #[test]
        fn a_block_is_divided_without_rest(start in 0i64..1_000, wall in 0i64..100_000, samples in 1usize..300) {
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
        fn every_sample_has_an_entry(samples in 0usize..2_000) {
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
    fn a_slow_sample_ends_the_blocks() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        quick(&mut watch, 500);
        slow(&mut watch);
        quick(&mut watch, 500);
        // Fills the block that may be under way, so that it is seen to be long.
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
    fn a_sample_with_stages_stands_alone() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        watch.block = MOST;
        quick(&mut watch, MOST - 1);
        assert_eq!(watch.waiting, MOST - 1, "it comes in the middle of a block");
        watch.begin();
        let at = watch.clock.now();
        std::thread::sleep(Duration::from_millis(3));
        watch.end_staged(at);
        quick(&mut watch, 10);
        let timings = watch.take(false);
        assert_eq!(timings.len(), MOST + 10);
        assert_eq!(timings[MOST - 1].start, at);
        assert_eq!(timings[MOST - 2].start + timings[MOST - 2].wall, at);
        assert!(timings[MOST - 1].wall >= Nanos(2_900_000));
    }

    #[test]
    fn what_shares_a_block_with_a_failure_is_left_out() {
        let clock = Clock::start();
        let mut watch = Stopwatch::new(&clock);
        quick(&mut watch, 100);
        let known = watch.timings.len();
        watch.begin();
        assert_eq!(watch.take(true).len(), known);
    }
}
