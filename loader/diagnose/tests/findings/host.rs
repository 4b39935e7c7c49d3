//! CPU cores that other programs use.

use loadscope_trace::{Gauge, GaugeKind};

use super::*;

/// Returns the finding for a host with `cores` cores, of which other programs used `taken`.
fn busy(cores: u32, taken: f64) -> Option<String> {
    let gauge = Gauge {
        lane: None,
        part: None,
        what: GaugeKind::OtherCpu,
        value: taken,
    };
    let measured = EventKind::Gauge(Box::new(gauge));
    let mut run = PROGRAM.run(vec![(0, measured), (0, ENDED)]);
    run.info.cores = cores;
    says(&run, "busy_host").map(|(text, _)| text)
}

#[test]
fn other_programs_are_named_if_they_use_many_cores() {
    let text = busy(2, 1.0).expect("it is noticeable");
    assert!(text.contains("used 1.0 of 2 cores"), "{text}");
    assert_eq!(busy(2, 0.2), None);
    assert_eq!(busy(0, 1.0), None);
}
