//! Simulation of the cost of a [`CostModel`]: sleeping or computing, and failing if requested.

use std::time::{Duration, Instant};

use loadscope_trace::Nanos;

use super::{CostModel, SampleClock, SampleError};
use crate::cpu::thread_cpu_time;

/// Maximum wake-up delay of a sleeping thread. The thread spins for the rest of the time.
const SPIN: Duration = Duration::from_micros(300);
/// Interval at which a long sleep checks for cancellation.
const CANCEL_CHECK: Duration = Duration::from_millis(50);

/// Spends the cost of sample `index`, counted from `start`, and fails if the model requests it.
///
/// # Errors
/// ValueError for the indices in `fail`.
///
/// # Panics
/// For the indices in `panic`.
pub(super) fn simulate_cost(
    model: &CostModel,
    index: usize,
    start: Instant,
    clock: &mut SampleClock,
) -> Result<(), SampleError> {
    let cost = model.cost(index).to_duration();
    let watch = clock.cancellation_only();
    let is_cancelled = || watch.is_cancelled();
    if model.cpu {
        clock.stage("compute", || {
            burn_cpu(cost.saturating_sub(start.elapsed()), is_cancelled)
        });
    } else {
        clock.stage("sleep", || sleep_until(start, cost, is_cancelled));
    }
    assert!(
        !model.panic.contains(&index),
        "sample {index} panics, as requested by panic={index}"
    );
    if model.fail.contains(&index) {
        return Err(SampleError::new(
            "ValueError",
            format!("sample {index} fails, as requested by fail={index}"),
        ));
    }
    Ok(())
}

/// Returns `duration` after `start`, late by microseconds only. Returns earlier if the sample is cancelled.
pub(super) fn sleep_until(start: Instant, duration: Duration, is_cancelled: impl Fn() -> bool) {
    loop {
        let left = duration.saturating_sub(start.elapsed());
        match left.checked_sub(SPIN) {
            _ if left.is_zero() || is_cancelled() => return,
            Some(nap) => std::thread::sleep(nap.min(CANCEL_CHECK)),
            None => std::hint::spin_loop(),
        }
    }
}

/// Computes until this thread has used `cost` of CPU time, like decoding an image. A busy host takes longer.
fn burn_cpu(cost: Duration, is_cancelled: impl Fn() -> bool) {
    let cost: Nanos = cost.into();
    let start = Instant::now();
    let cpu_start = thread_cpu_time();
    loop {
        let used = match (cpu_start, thread_cpu_time()) {
            (Some(then), Some(now)) => now - then,
            // This platform has no thread CPU clock, so wall time counts.
            _ => start.elapsed().into(),
        };
        if used >= cost || is_cancelled() {
            return;
        }
        let mut z = used.0 as u64;
        for _ in 0..1000 {
            z = std::hint::black_box(z.wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_left(13));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_and_computing_are_accurate_to_200_us() {
        let cost = Duration::from_millis(3);
        let limit = cost + Duration::from_micros(200);
        // The test takes the best of many attempts, because the host may be busy.
        let sleeps = (0..50).any(|_| {
            let start = Instant::now();
            sleep_until(start, cost, || false);
            start.elapsed() < limit
        });
        assert!(sleeps);
        let burns = (0..50).any(|_| {
            let Some(start) = thread_cpu_time() else {
                return true;
            };
            burn_cpu(cost, || false);
            thread_cpu_time().is_some_and(|end| end - start < limit.into())
        });
        assert!(burns);
    }
}
