//! The clock of the browser, and calculations without threads. Each frame runs at most one calculation. A calculation waits until the
//! screen shows that it is in progress.

use std::collections::VecDeque;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loadscope_insight::platform::{Clock, Jobs, Platform};

/// Clock and jobs of the browser.
pub(crate) const PLATFORM: Platform = Platform {
    clock: &BrowserClock,
    jobs: &FrameJobs,
};

struct BrowserClock;

fn from_ms(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}

impl Clock for BrowserClock {
    fn now(&self) -> Duration {
        let performance = web_sys::window().and_then(|window| window.performance());
        performance.map_or(Duration::ZERO, |performance| from_ms(performance.now()))
    }

    fn since_1970(&self) -> Duration {
        from_ms(js_sys::Date::now())
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// Number of frames drawn before a calculation starts.
const FRAMES_BEFORE_JOB: u8 = 2;

/// Pending calculations, each with the number of frames until it starts.
static PENDING: Mutex<VecDeque<(u8, Job)>> = Mutex::new(VecDeque::new());

fn pending() -> MutexGuard<'static, VecDeque<(u8, Job)>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

struct FrameJobs;

impl Jobs for FrameJobs {
    fn start(&self, _name: &str, job: Job) -> io::Result<()> {
        pending().push_back((FRAMES_BEFORE_JOB, job));
        Ok(())
    }
}

/// Runs the next calculation if it is due. Returns true if more are pending.
pub(crate) fn run_next_job() -> bool {
    let next = {
        let mut all = pending();
        match all.front_mut() {
            Some((frames @ 1.., _)) => {
                *frames -= 1;
                None
            }
            Some(_) => all.pop_front(),
            None => return false,
        }
    };
    if let Some((_, job)) = next {
        job();
    }
    !pending().is_empty()
}
