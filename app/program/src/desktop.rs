//! Clocks and threads of a desktop.

use std::io;
use std::sync::OnceLock;
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use loadscope_insight::platform::{Clock, Jobs, Platform};

/// Clocks and jobs of a desktop.
pub const PLATFORM: Platform = Platform {
    clock: &Clocks,
    jobs: &Threads,
};

struct Clocks;

impl Clock for Clocks {
    fn now(&self) -> Duration {
        static BEGINNING: OnceLock<Instant> = OnceLock::new();
        BEGINNING.get_or_init(Instant::now).elapsed()
    }

    fn since_1970(&self) -> Duration {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        now.unwrap_or_default()
    }
}

struct Threads;

impl Jobs for Threads {
    fn start(&self, name: &str, job: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        Builder::new().name(name.to_owned()).spawn(job).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_advances_and_jobs_run_on_another_thread() {
        let before = PLATFORM.clock.now();
        let (tell, told) = std::sync::mpsc::channel();
        let job = move || {
            let _ = tell.send(std::thread::current().name().map(str::to_owned));
        };
        PLATFORM
            .jobs
            .start("elsewhere", Box::new(job))
            .expect("there is room for a thread");
        let name = told.recv_timeout(Duration::from_secs(20));
        assert_eq!(name, Ok(Some("elsewhere".to_owned())));
        std::thread::sleep(Duration::from_millis(2));
        assert!(PLATFORM.clock.now() >= before + Duration::from_millis(2));
        // The number is the seconds from 1970 to 2020.
        assert!(PLATFORM.clock.since_1970() > Duration::from_secs(1_577_836_800));
    }
}
