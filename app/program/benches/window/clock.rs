//! Measured values and their time range.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::time::Instant;

use loadscope_trace::Nanos;

/// Returns a number from an environment variable, or the default.
pub fn number(name: &str, usual: f64) -> f64 {
    let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
    given.unwrap_or(usual)
}

/// Returns the unmeasured time at the start, seconds. Threads start in it, and the scale of the run changes fastest.
fn warm_up() -> f64 {
    number("WARM_UP", 5.0)
}

/// Measured values of a process.
#[derive(Default)]
pub struct Measured {
    /// Batches and events per second.
    pub batches: f64,
    pub events: f64,
    pub frames: f64,
    /// CPU time in processors: the window, the renderer, all threads.
    pub window: f64,
    pub renderer: f64,
    pub all: f64,
    /// Number of dropped events.
    pub lost: u64,
}

impl Measured {
    /// Prints the values for the process that compares.
    pub fn print(&self) {
        println!(
            "measured {} {} {} {} {} {} {}",
            self.batches, self.events, self.frames, self.window, self.renderer, self.all, self.lost
        );
    }
}

/// Returns the CPU time of this process's threads, seconds: the main thread, the renderer, all.
fn processor_time() -> [f64; 3] {
    let mut sums = [0.0; 3];
    let own = std::process::id().to_string();
    for thread in std::fs::read_dir("/proc/self/task").into_iter().flatten() {
        let Ok(thread) = thread else { continue };
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let Some((name, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let ticks = |k: usize| fields.get(k).and_then(|t| t.parse::<f64>().ok());
        let time = (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0)) / 100.0;
        sums[2] += time;
        if thread.file_name().to_string_lossy() == own {
            sums[0] += time;
        } else if name.contains("llvmpipe") || name.contains("gallium") || name.contains("mesa") {
            sums[1] += time;
        }
    }
    sums
}

/// Clock of the measured time range, after the warm-up.
pub struct Clock {
    start: Instant,
    pub seconds: f64,
    before: Option<[f64; 3]>,
    pub frames: usize,
}

impl Clock {
    pub fn new(seconds: f64) -> Self {
        Self {
            start: Instant::now(),
            seconds,
            before: None,
            frames: 0,
        }
    }

    /// Returns true if the time is over. Must be called repeatedly.
    pub fn is_over(&mut self) -> bool {
        let now = self.start.elapsed().as_secs_f64();
        if now >= warm_up() && self.before.is_none() {
            self.before = Some(processor_time());
            self.frames = 0;
        }
        now >= warm_up() + self.seconds
    }

    /// Returns the CPU times so far, without the counts of the run.
    pub fn measured(&self) -> Measured {
        let took = self.start.elapsed().as_secs_f64() - warm_up();
        let before = self.before.unwrap_or_default();
        let now = processor_time();
        let share = |k: usize| (now[k] - before[k]) / took;
        Measured {
            frames: self.frames as f64 / took,
            window: share(0),
            renderer: share(1),
            all: share(2),
            ..Measured::default()
        }
    }

    /// Returns the measured time range of the run.
    pub fn range(&self) -> (Nanos, Nanos) {
        let at = |s: f64| Nanos::from_secs_f64(s);
        (at(warm_up()), at(warm_up() + self.seconds))
    }
}
