//! Child processes of tests.

use std::process::Child;
use std::time::{Duration, Instant};

/// Waits until the child ends by itself. After the timeout, it kills the child and panics.
pub fn ends(child: &mut Child, within: Duration) {
    let began = Instant::now();
    while child.try_wait().expect("it is our child").is_none() {
        if began.elapsed() > within {
            let _ = child.kill();
            panic!("it does not end within {within:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
