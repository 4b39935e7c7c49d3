//! The processor's own counter as a clock: reading it takes a third of what asking the system takes.
//!
//! It is used only where the kernel itself keeps the time by it, which says that it runs at one rate on all cores. Every millisecond
//! a thread asks the system what time it is, and a new anchor is set: from there the counter is only followed for a moment, at a
//! rate that was measured. So it makes no difference what the counter did while the computer slept, or if the system turns its
//! clock faster. A new anchor never lies before where the old one led, so that no thread sees the time go back.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering, fence};
use std::sync::{Mutex, OnceLock, TryLockError};
use std::time::Instant;

/// The counter is followed for so long before a thread looks at the system's clock, ns.
const SOON: u64 = 1_000_000;
/// And never longer than this, ns.
const LONGEST: u64 = 10_000_000;
/// The rate is measured over at least this, ns.
const LEAST: i64 = 10_000_000;
/// And begins anew after this, ns, so that it follows the system's clock.
const MOST: i64 = 1_000_000_000;
/// Asking the system takes less than so many ticks, unless the thread is interrupted.
const TIGHT: u64 = 1_000;
/// A rate that differs by more than one part in so many is another clock: the computer slept.
const SAME: u64 = 1_000;

/// Nanoseconds since this was first asked. Does not go back, for no thread.
///
/// With `ordered` it is read after all that the thread did before, so after what it has heard of others. Without, which takes
/// half as long, it may be read up to a tenth of a microsecond early.
#[inline]
pub(super) fn now(ordered: bool) -> i64 {
    static TICKS: OnceLock<Ticks> = OnceLock::new();
    TICKS.get_or_init(Ticks::start).now(ordered)
}

/// True if two readings by two threads, one after the other, are in order though nothing else says so: the clock is finer than what
/// it takes to tell the other thread.
pub(super) fn is_fine() -> bool {
    cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")
}

struct Ticks {
    origin: Instant,
    /// Whether the counter may be used at all.
    counts: bool,
    anchor: Anchor,
    rate: Mutex<Rate>,
}

/// Where the counter is followed from. Read by all threads, set by one at a time: odd `changes` = it is being set.
#[repr(align(128))]
#[derive(Default)]
struct Anchor {
    changes: AtomicU64,
    ticks: AtomicU64,
    nanos: AtomicI64,
    /// Nanoseconds a tick, times 2^32; 0: not known yet.
    rate: AtomicU64,
    /// Ticks after which the system is to be asked, if no thread does at the moment.
    soon: AtomicU64,
    /// Ticks after which it has to be asked.
    longest: AtomicU64,
}

#[derive(Clone, Copy)]
struct Set {
    ticks: u64,
    nanos: i64,
    rate: u64,
    soon: u64,
    longest: u64,
}

/// Since when the rate is measured.
#[derive(Default)]
struct Rate {
    since: Option<(u64, i64)>,
}

impl Ticks {
    fn start() -> Self {
        Self {
            origin: Instant::now(),
            counts: keeps_time(),
            anchor: Anchor::default(),
            rate: Mutex::default(),
        }
    }

    #[inline]
    fn now(&self, ordered: bool) -> i64 {
        if !self.counts {
            return self.asked();
        }
        let ticks = counter(ordered);
        if let Some(set) = self.anchor.get() {
            // Another thread may have set the anchor since.
            let past = ticks.wrapping_sub(set.ticks) as i64;
            if past.unsigned_abs() < set.soon {
                return set.at(past);
            }
        }
        self.look(ticks)
    }

    fn asked(&self) -> i64 {
        i64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }

    /// Asks the system, unless another thread does.
    #[cold]
    fn look(&self, ticks: u64) -> i64 {
        let mut rate = match self.rate.try_lock() {
            Ok(rate) => rate,
            Err(TryLockError::Poisoned(rate)) => rate.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let set = self.anchor.get();
                let past = set.map(|set| (ticks.wrapping_sub(set.ticks) as i64, set));
                return match past {
                    Some((past, set)) if past.unsigned_abs() < set.longest => set.at(past),
                    _ => self.asked(),
                };
            }
        };
        let (ticks, nanos, is_tight) = self.both();
        let old = self.anchor.get();
        let led_to = old.map(|old| (old, ticks.wrapping_sub(old.ticks) as i64));
        let nanos = match led_to {
            Some((old, past)) if past.unsigned_abs() < old.longest => nanos.max(old.at(past)),
            Some((old, _)) => nanos.max(old.nanos),
            None => nanos,
        };
        let known = old.map_or(0, |old| old.rate);
        let found = rate.measure(known, ticks, nanos, is_tight);
        self.anchor.set(Set::new(ticks, nanos, found));
        nanos
    }

    /// The counter and the system's clock, at nearly the same time; true if it was.
    fn both(&self) -> (u64, i64, bool) {
        let mut tries = 0;
        loop {
            let before = counter(true);
            let nanos = self.asked();
            let ticks = counter(true);
            let is_tight = ticks.wrapping_sub(before) < TIGHT;
            tries += 1;
            if is_tight || tries == 3 {
                return (ticks, nanos, is_tight);
            }
        }
    }
}

impl Rate {
    /// Nanoseconds a tick, times 2^32, a little less than it was since the beginning; 0 while it is not known.
    fn measure(&mut self, known: u64, ticks: u64, nanos: i64, is_tight: bool) -> u64 {
        let Some((first, since)) = self.since else {
            self.since = is_tight.then_some((ticks, nanos));
            return known;
        };
        let (all, took) = (ticks.wrapping_sub(first), nanos - since);
        if !is_tight || took < LEAST {
            return known;
        }
        if took >= MOST {
            self.since = Some((ticks, nanos));
        }
        let rate = (took.unsigned_abs() as u128) << 32;
        let rate = u64::try_from(rate / u128::from(all.max(1))).unwrap_or(0);
        let differs = known > 0 && rate.abs_diff(known) > known / SAME;
        // Less than one tick in 16 ns, or more than 16 in one: no such counter.
        let is_odd = !((1 << 28)..(1 << 36)).contains(&rate);
        if differs || is_odd {
            self.since = Some((ticks, nanos));
            return 0;
        }
        // 15 parts in a million less: it rather lags by a few nanoseconds than leads.
        rate - (rate >> 16)
    }
}

impl Set {
    fn new(ticks: u64, nanos: i64, rate: u64) -> Self {
        let in_ticks = |nanos: u64| (nanos << 32).checked_div(rate).unwrap_or(0);
        Self {
            ticks,
            nanos,
            rate,
            soon: in_ticks(SOON),
            longest: in_ticks(LONGEST),
        }
    }

    /// The time `past` ticks after the anchor: fewer than 2^31.
    #[inline]
    fn at(&self, past: i64) -> i64 {
        self.nanos + ((past.wrapping_mul(self.rate as i64)) >> 32)
    }
}

impl Anchor {
    /// `None`: it is being set.
    #[inline]
    fn get(&self) -> Option<Set> {
        let before = self.changes.load(Ordering::Acquire);
        let set = Set {
            ticks: self.ticks.load(Ordering::Relaxed),
            nanos: self.nanos.load(Ordering::Relaxed),
            rate: self.rate.load(Ordering::Relaxed),
            soon: self.soon.load(Ordering::Relaxed),
            longest: self.longest.load(Ordering::Relaxed),
        };
        fence(Ordering::Acquire);
        let is_whole = before & 1 == 0 && self.changes.load(Ordering::Relaxed) == before;
        is_whole.then_some(set)
    }

    /// By the one thread that holds the lock.
    fn set(&self, set: Set) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.changes.store(changes + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.ticks.store(set.ticks, Ordering::Relaxed);
        self.nanos.store(set.nanos, Ordering::Relaxed);
        self.rate.store(set.rate, Ordering::Relaxed);
        self.soon.store(set.soon, Ordering::Relaxed);
        self.longest.store(set.longest, Ordering::Relaxed);
        self.changes.store(changes + 2, Ordering::Release);
    }
}

/// Whether the kernel keeps the time by this counter.
fn keeps_time() -> bool {
    const SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    cfg!(all(target_os = "linux", target_arch = "x86_64"))
        && std::fs::read_to_string(SOURCE).is_ok_and(|source| source.trim() == "tsc")
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[expect(unsafe_code, reason = "instructions that have no safe name")]
fn counter(ordered: bool) -> u64 {
    use std::arch::x86_64::{_mm_lfence, _rdtsc};
    // SAFETY: every processor of this architecture has both, and they touch no memory.
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
    fn it_keeps_step_with_the_system() {
        let (start, began) = (Instant::now(), now(true));
        for _ in 0..200 {
            std::thread::sleep(Duration::from_micros(300));
            let low = start.elapsed();
            let shown = now(true) - began;
            let high = start.elapsed() + Duration::from_micros(2);
            let low = low.saturating_sub(Duration::from_micros(2)).as_nanos() as i64;
            // A thread that is interrupted between the readings sees more than passed.
            assert!(
                (low..=high.as_nanos() as i64 + 1).contains(&shown),
                "{low} {shown}"
            );
        }
    }

    #[test]
    fn what_one_thread_tells_another_is_earlier() {
        let end = Instant::now() + Duration::from_millis(300);
        let (to, from) = channel::<i64>();
        let (back, answers) = channel::<i64>();
        let other = std::thread::spawn(move || {
            while let Ok(told) = from.recv() {
                let heard = now(true);
                assert!(told <= heard, "{told} {heard}");
                if back.send(now(false).max(heard)).is_err() {
                    break;
                }
            }
        });
        let mut last = 0;
        while Instant::now() < end {
            last = now(false).max(last);
            to.send(last).expect("it listens");
            let told = answers.recv().expect("it answers");
            let heard = now(true);
            assert!(told <= heard, "{told} {heard}");
            last = heard;
        }
        drop(to);
        other.join().expect("no reading went back");
    }

    #[test]
    fn a_rate_is_measured_and_another_clock_is_noticed() {
        let mut rate = Rate::default();
        assert_eq!(rate.measure(0, 1_000, 0, true), 0);
        assert_eq!(rate.measure(0, 2_000, 400, true), 0, "too soon");
        let found = rate.measure(0, 50_001_000, 20_000_000, true);
        let expected = (0.4 * 2f64.powi(32)) as u64;
        assert!(
            found < expected && expected - found < expected / 50_000,
            "{found} {expected}"
        );
        // The counter went on while the system's clock stood still.
        assert_eq!(rate.measure(found, 500_000_000_000, 30_000_000, true), 0);
        assert_eq!(rate.measure(0, 500_025_000_000, 40_000_000, true), found);
        // It began anew.
        assert_eq!(rate.measure(found, 5_000, 60_000_000, true), 0);
        assert_eq!(
            rate.measure(0, 1 << 60, 80_000_000, true),
            0,
            "no such counter"
        );
    }

    #[test]
    fn a_new_anchor_does_not_lie_before_where_the_old_one_led() {
        let ticks = Ticks::start();
        let mut last = i64::MIN;
        let end = Instant::now() + Duration::from_millis(100);
        while Instant::now() < end {
            let next = ticks.now(true);
            assert!(next >= last, "{next} {last}");
            last = next;
        }
        // The rate is wrong by far: the time still does not go back.
        if let Some(set) = ticks.anchor.get() {
            ticks.anchor.set(Set {
                nanos: set.nanos + 500_000,
                ..set
            });
            let ahead = ticks.now(true);
            std::thread::sleep(Duration::from_millis(2));
            assert!(ticks.now(true) >= ahead);
        }
    }
}
