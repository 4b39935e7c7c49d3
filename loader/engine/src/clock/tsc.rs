//! Clock that reads the processor's time stamp counter (TSC), in a third of the time of a system call.
//!
//! The counter is used only if the kernel also uses it as its clock source. Then it runs at one rate on all cores.
//! Every millisecond a thread reads the system clock and sets a new anchor. Between anchors, the time is extrapolated
//! from the counter at a measured rate. Suspend and adjustments of the system clock therefore do no harm. A new anchor
//! is never earlier than the time extrapolated from the old one, so no thread sees time go backwards.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use std::sync::{Mutex, OnceLock, TryLockError};
use std::time::Instant;

/// Time after an anchor from which a thread tries to set a new one, ns.
const RESYNC_AFTER: u64 = 1_000_000;
/// Maximum time of extrapolation from an anchor, ns.
const MAX_EXTRAPOLATION: u64 = 10_000_000;
/// Minimum period over which the rate is measured, ns.
const MIN_RATE_PERIOD: i64 = 10_000_000;
/// Period after which a new measurement of the rate starts, so that it follows the system clock, ns.
const MAX_RATE_PERIOD: i64 = 1_000_000_000;
/// Maximum ticks of an uninterrupted read of the system clock.
const MAX_READ_TICKS: u64 = 1_000;
/// Tolerance of the rate, as a divisor. A larger change (1 / `RATE_TOLERANCE`) means another clock, for example after suspend.
const RATE_TOLERANCE: u64 = 1_000;

/// Returns nanoseconds since the first call. The result never decreases in any thread.
///
/// If `ordered`, the counter is read after everything that the thread did before, and so after any event that it has
/// learned of. If not, it may be read up to 0.1 µs early, in half the time.
#[inline]
pub(super) fn now(ordered: bool) -> i64 {
    static CLOCK: OnceLock<TscClock> = OnceLock::new();
    CLOCK.get_or_init(TscClock::start).now(ordered)
}

/// Returns true if two successive readings by two threads are in order without other synchronization.
///
/// This is the case if the clock is finer than the latency of a message between threads.
pub(super) fn is_fine_grained() -> bool {
    cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")
}

struct TscClock {
    origin: Instant,
    /// True if the counter may be used.
    uses_tsc: bool,
    anchor: Anchor,
    rate: Mutex<Rate>,
}

/// Start of the extrapolation. All threads read it, and one at a time sets it. `changes` is odd during an update (seqlock).
#[repr(align(128))]
#[derive(Default)]
struct Anchor {
    changes: AtomicU64,
    ticks: AtomicU64,
    nanos: AtomicI64,
    /// Nanoseconds per tick times 2^32, or 0 if not yet known.
    rate: AtomicU64,
    /// Ticks after which a thread reads the system clock, unless another thread does so.
    resync_after: AtomicU64,
    /// Ticks after which a thread must read the system clock.
    max_extrapolation: AtomicU64,
}

#[derive(Clone, Copy)]
struct AnchorValues {
    ticks: u64,
    nanos: i64,
    rate: u64,
    resync_after: u64,
    max_extrapolation: u64,
}

/// Start of the current rate measurement.
#[derive(Default)]
struct Rate {
    since: Option<(u64, i64)>,
}

impl TscClock {
    fn start() -> Self {
        Self {
            origin: Instant::now(),
            uses_tsc: kernel_uses_tsc(),
            anchor: Anchor::default(),
            rate: Mutex::default(),
        }
    }

    #[inline]
    fn now(&self, ordered: bool) -> i64 {
        if !self.uses_tsc {
            return self.system_nanos();
        }
        let ticks = counter(ordered);
        if let Some(set) = self.anchor.get() {
            // Another thread may have set the anchor since, so this may be negative.
            let past = ticks.wrapping_sub(set.ticks) as i64;
            if past.unsigned_abs() < set.resync_after {
                return set.at(past);
            }
        }
        self.resync(ticks)
    }

    fn system_nanos(&self) -> i64 {
        i64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Reads the system clock and sets a new anchor, unless another thread is doing it.
    #[cold]
    fn resync(&self, ticks: u64) -> i64 {
        let mut rate = match self.rate.try_lock() {
            Ok(rate) => rate,
            Err(TryLockError::Poisoned(rate)) => rate.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let set = self.anchor.get();
                let past = set.map(|set| (ticks.wrapping_sub(set.ticks) as i64, set));
                return match past {
                    Some((past, set)) if past.unsigned_abs() < set.max_extrapolation => {
                        set.at(past)
                    }
                    _ => self.system_nanos(),
                };
            }
        };
        let (ticks, nanos, is_tight) = self.read_both();
        let old = self.anchor.get();
        let led_to = old.map(|old| (old, ticks.wrapping_sub(old.ticks) as i64));
        let nanos = match led_to {
            Some((old, past)) if past.unsigned_abs() < old.max_extrapolation => {
                nanos.max(old.at(past))
            }
            Some((old, _)) => nanos.max(old.nanos),
            None => nanos,
        };
        let known = old.map_or(0, |old| old.rate);
        let found = rate.measure(known, ticks, nanos, is_tight);
        self.anchor.set(AnchorValues::new(ticks, nanos, found));
        nanos
    }

    /// Reads the counter and the system clock at nearly the same time. The bool is false if the thread was interrupted.
    fn read_both(&self) -> (u64, i64, bool) {
        let mut tries = 0;
        loop {
            let before = counter(true);
            let nanos = self.system_nanos();
            let ticks = counter(true);
            let is_tight = ticks.wrapping_sub(before) < MAX_READ_TICKS;
            tries += 1;
            if is_tight || tries == 3 {
                return (ticks, nanos, is_tight);
            }
        }
    }
}

impl Rate {
    /// Returns nanoseconds per tick times 2^32, slightly below the measured rate, or 0 if the rate is not yet known.
    fn measure(&mut self, known: u64, ticks: u64, nanos: i64, is_tight: bool) -> u64 {
        let Some((first, since)) = self.since else {
            self.since = is_tight.then_some((ticks, nanos));
            return known;
        };
        let (all, took) = (ticks.wrapping_sub(first), nanos - since);
        if !is_tight || took < MIN_RATE_PERIOD {
            return known;
        }
        if took >= MAX_RATE_PERIOD {
            self.since = Some((ticks, nanos));
        }
        let rate = (took.unsigned_abs() as u128) << 32;
        let rate = u64::try_from(rate / u128::from(all.max(1))).unwrap_or(0);
        let differs = known > 0 && rate.abs_diff(known) > known / RATE_TOLERANCE;
        // An implausible rate: less than one tick in 16 ns, or more than 16 ticks per ns.
        let is_odd = !((1 << 28)..(1 << 36)).contains(&rate);
        if differs || is_odd {
            self.since = Some((ticks, nanos));
            return 0;
        }
        // The rate is 15 ppm lower, because a lag of a few nanoseconds is better than a lead.
        rate - (rate >> 16)
    }
}

impl AnchorValues {
    fn new(ticks: u64, nanos: i64, rate: u64) -> Self {
        let in_ticks = |nanos: u64| (nanos << 32).checked_div(rate).unwrap_or(0);
        Self {
            ticks,
            nanos,
            rate,
            resync_after: in_ticks(RESYNC_AFTER),
            max_extrapolation: in_ticks(MAX_EXTRAPOLATION),
        }
    }

    /// Returns the time `past` ticks after the anchor. `past` is below 2^31.
    #[inline]
    fn at(&self, past: i64) -> i64 {
        self.nanos + ((past.wrapping_mul(self.rate as i64)) >> 32)
    }
}

impl Anchor {
    /// Returns the anchor, or `None` while it is being updated.
    #[inline]
    fn get(&self) -> Option<AnchorValues> {
        let before = self.changes.load(Ordering::Acquire);
        let set = AnchorValues {
            ticks: self.ticks.load(Ordering::Relaxed),
            nanos: self.nanos.load(Ordering::Relaxed),
            rate: self.rate.load(Ordering::Relaxed),
            resync_after: self.resync_after.load(Ordering::Relaxed),
            max_extrapolation: self.max_extrapolation.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        let is_whole = before & 1 == 0 && self.changes.load(Ordering::Relaxed) == before;
        is_whole.then_some(set)
    }

    /// Updates the anchor. The caller holds the lock.
    fn set(&self, set: AnchorValues) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.ticks.store(set.ticks, Ordering::Relaxed);
        self.nanos.store(set.nanos, Ordering::Relaxed);
        self.rate.store(set.rate, Ordering::Relaxed);
        self.resync_after.store(set.resync_after, Ordering::Relaxed);
        self.max_extrapolation
            .store(set.max_extrapolation, Ordering::Relaxed);
        self.changes.store(changes + 2, Ordering::Release);
    }
}

/// Returns true if the kernel uses this counter as its clock source.
fn kernel_uses_tsc() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
        && std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "instructions that have no safe name")]
fn counter(ordered: bool) -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every processor of this architecture has both instructions, and they do not access memory.
    unsafe {
        if ordered {
            _mm_lfence();
        }
        _rdtsc()
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter(_ordered: bool) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods, reason = "threads of tests need no name")]

    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn tsc_time_agrees_with_the_system_clock() {
        let (start, began) = (Instant::now(), now(true));
        for _ in 0..200 {
            std::thread::sleep(Duration::from_micros(300));
            let low = start.elapsed();
            let shown = now(true) - began;
            let high = start.elapsed() + Duration::from_micros(2);
            let low = low.saturating_sub(Duration::from_micros(2)).as_nanos() as i64;
            // The shown time is too large if the thread is interrupted between the readings.
            assert!(
                (low..=high.as_nanos() as i64 + 1).contains(&shown),
                "{low} {shown}"
            );
        }
    }

    #[test]
    fn time_does_not_go_backwards_between_threads() {
        let end = Instant::now() + Duration::from_millis(300);
        let (to, from) = channel::<i64>();
        let (back, answers) = channel::<i64>();
        let other = std::thread::spawn(move || {
            while let Ok(sent_at) = from.recv() {
                let received_at = now(true);
                assert!(sent_at <= received_at, "{sent_at} {received_at}");
                if back.send(now(false).max(received_at)).is_err() {
                    break;
                }
            }
        });
        let mut last = 0;
        while Instant::now() < end {
            last = now(false).max(last);
            to.send(last).expect("it listens");
            let sent_at = answers.recv().expect("it answers");
            let received_at = now(true);
            assert!(sent_at <= received_at, "{sent_at} {received_at}");
            last = received_at;
        }
        drop(to);
        other.join().expect("no reading went back");
    }

    #[test]
    fn the_tsc_rate_is_measured_and_a_changed_clock_rejected() {
        let mut rate = Rate::default();
        assert_eq!(rate.measure(0, 1_000, 0, true), 0);
        assert_eq!(rate.measure(0, 2_000, 400, true), 0, "too soon");
        let found = rate.measure(0, 50_001_000, 20_000_000, true);
        let expected = (0.4 * 2f64.powi(32)) as u64;
        assert!(
            found < expected && expected - found < expected / 50_000,
            "{found} {expected}"
        );
        // The counter continued while the system clock stopped.
        assert_eq!(rate.measure(found, 500_000_000_000, 30_000_000, true), 0);
        assert_eq!(rate.measure(0, 500_025_000_000, 40_000_000, true), found);
        // The counter restarted.
        assert_eq!(rate.measure(found, 5_000, 60_000_000, true), 0);
        assert_eq!(
            rate.measure(0, 1 << 60, 80_000_000, true),
            0,
            "no such counter"
        );
    }

    #[test]
    fn time_does_not_go_backwards_at_a_new_anchor() {
        let ticks = TscClock::start();
        let mut last = i64::MIN;
        let end = Instant::now() + Duration::from_millis(100);
        while Instant::now() < end {
            let next = ticks.now(true);
            assert!(next >= last, "{next} {last}");
            last = next;
        }
        // Even with a very wrong rate, time does not go backwards.
        if let Some(set) = ticks.anchor.get() {
            ticks.anchor.set(AnchorValues {
                nanos: set.nanos + 500_000,
                ..set
            });
            let ahead = ticks.now(true);
            std::thread::sleep(Duration::from_millis(2));
            assert!(ticks.now(true) >= ahead);
        }
    }
}
