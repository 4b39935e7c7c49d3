//! What is measured, and when.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::time::Instant;

use loadscope_trace::Nanos;

/// What a variable of the environment says, or what is usual.
pub fn number(name: &str, usual: f64) -> f64 {
    let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
    given.unwrap_or(usual)
}

/// Not measured, s: threads start, and in its first seconds a run changes its scale faster than ever after.
fn warm_up() -> f64 {
    number("WARM_UP", 5.0)
}

/// What a process has measured.
#[derive(Default)]
pub struct Measured {
    /// Batches and events a second.
    pub batches: f64,
    pub events: f64,
    pub frames: f64,
    /// Of one processor: the window, the renderer, everything.
    pub window: f64,
    pub renderer: f64,
    pub all: f64,
    /// Events that were lost.
    pub lost: u64,
}

impl Measured {
    /// For the process that compares.
    pub fn tell(&self) {
        println!(
            "measured {} {} {} {} {} {} {}",
            self.batches, self.events, self.frames, self.window, self.renderer, self.all, self.lost
        );
    }
}

/// Processor time of the threads of this process, s: the main one, those of the renderer, all.
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

/// What happens between the end of the warming up and the end.
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

    /// True once it is over. To be asked again and again.
    pub fn is_over(&mut self) -> bool {
        let now = self.start.elapsed().as_secs_f64();
        if now >= warm_up() && self.before.is_none() {
            self.before = Some(processor_time());
            self.frames = 0;
        }
        now >= warm_up() + self.seconds
    }

    /// What was measured of the processors so far; what the run did is not in it.
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

    /// The range of time of the run in which it is counted.
    pub fn range(&self) -> (Nanos, Nanos) {
        let at = |s: f64| Nanos::from_secs_f64(s);
        (at(warm_up()), at(warm_up() + self.seconds))
    }
}
