//! Tests of ending a session.

use std::time::{Duration, Instant};

use std::sync::Arc;

use super::*;

/// Starts a run whose samples take `cost_ms`, and waits for its first events.
fn under_way(cost_ms: u32) -> Session {
    let options = RunOptions {
        dataset: format!("synthetic:len=1000,cost_ms={cost_ms},cpu=true"),
        batch_size: Some(1),
        num_workers: 2,
        ..RunOptions::default()
    };
    let session = Session::start(&options, Record::Memory, Arc::new(|| {}));
    let session = session.expect("sound options");
    let first = session.updates.recv_timeout(Duration::from_secs(20));
    assert!(matches!(first, Ok(SessionEvent::Events(_))));
    session
}

#[test]
fn close_waits_for_workers_up_to_the_timeout() {
    let start = Instant::now();
    assert!(under_way(5).end(Duration::from_secs(20)));
    assert!(under_way(60_000).end(Duration::from_secs(20)));
    assert!(start.elapsed() < Duration::from_secs(40));
    // The timeout limits the wait. The threads may or may not have ended.
    let session = under_way(60_000);
    let start = Instant::now();
    let _ = session.end(Duration::ZERO);
    assert!(start.elapsed() < Duration::from_secs(5));
}
