use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;

/// Returns the clock information of `rank` on `host`, with a wall clock that is ahead by `ahead` ns.
///
/// The steps of the job end at `ends` (true time, ns since 1970). `jitter` is the delay of the call of `next` after each step, ns.
fn recording(
    rank: u32,
    host: &str,
    ahead: i64,
    ends: &[i64],
    jitter: impl Fn(usize) -> i64,
) -> ClockInfo {
    let zero = ends[0] - 50 * MS - i64::from(rank) * 7 * MS;
    let mut clock_info = ClockInfo::default();
    let mut record = |at: i64, kind| {
        clock_info.apply(&Event {
            at: Nanos(at),
            run: RunId(3),
            kind,
        })
    };
    let info = RunInfo {
        dataset: "photographs".to_owned(),
        rank,
        world_size: 4,
        host: host.to_owned(),
        started_unix_ns: zero + ahead,
        ..RunInfo::default()
    };
    record(0, EventKind::RunStarted(Box::new(info)));
    record(0, EventKind::EpochStarted { epoch: 0 });
    record(1, EventKind::Consumer { waiting: true });
    for (k, end) in ends.iter().enumerate() {
        record(
            end - zero + jitter(k),
            EventKind::Consumer { waiting: true },
        );
    }
    clock_info
}

/// Returns the ends of `n` steps of about 100 ms with different lengths, ns since 1970.
fn steps(n: i64) -> Vec<i64> {
    (0..n)
        .map(|k| 1_790_000_000_000 * MS + k * 100 * MS + (k * k % 7) * 9 * MS)
        .collect()
}

/// Returns the true start of each recording after the earliest one, ns.
fn true_starts(clock_info: &[ClockInfo], ahead: &[i64]) -> Vec<i64> {
    let begins: Vec<i64> = clock_info
        .iter()
        .zip(ahead)
        .map(|(m, a)| m.started.unwrap() - a)
        .collect();
    let earliest = *begins.iter().min().unwrap();
    begins.iter().map(|b| b - earliest).collect()
}

#[test]
fn steps_show_clock_offset() {
    let ends = steps(40);
    // The clock of host `b` is 0.3 s fast, and that of host `c` is one hour slow.
    let ahead = [0, 0, 300 * MS, -3_600_000 * MS];
    let hosts = ["a", "a", "b", "c"];
    let all: Vec<ClockInfo> = (0..4)
        .map(|r| {
            recording(r, hosts[r as usize], ahead[r as usize], &ends, |k| {
                (k as i64 * i64::from(r) % 5) * MS / 10
            })
        })
        .collect();
    let true_starts = true_starts(&all, &ahead);
    for (k, place) in align_recordings(&all).into_iter().enumerate() {
        let off = (place.shift.0 - true_starts[k]).abs();
        let within = match place.clock {
            None => 1,
            Some(Clock {
                by: ClockMethod::Steps,
                within,
            }) => within.expect("it was measured").0,
            Some(other) => panic!("{k}: {other:?}"),
        };
        assert!(
            off <= within && within < MS,
            "{k}: off by {off}, said {within}"
        );
        // Host `c` has the earliest wall-clock start, so its clock is the reference.
        assert_eq!(place.clock.is_none(), hosts[k] == "c", "{k}");
    }
}

#[test]
fn unrelated_steps_keep_wall_clock() {
    let ends = steps(40);
    // The steps of each rank have their own length.
    let steps_longer_by = |by: i64| -> Vec<i64> {
        let ends = ends.iter().enumerate();
        ends.map(|(k, end)| end + k as i64 * by * MS).collect()
    };
    let all = [
        recording(0, "a", 0, &ends, |_| 0),
        recording(1, "b", 20 * MS, &steps_longer_by(40), |_| 0),
        recording(2, "a", 0, &steps_longer_by(90), |_| 0),
    ];
    let found = align_recordings(&all);
    let wall = Clock {
        by: ClockMethod::WallClock,
        within: None,
    };
    // The third recording starts first and is on the same host as the first one.
    assert_eq!(found[2], Alignment::default());
    assert_eq!((found[0].shift, found[0].clock), (Nanos(14 * MS), None));
    assert_eq!(
        (found[1].shift, found[1].clock),
        (Nanos(27 * MS), Some(wall))
    );
}

#[test]
fn equal_steps_do_not_confirm_large_offset() {
    // All steps have the same length, so correlation cannot confirm the offset of 5 s.
    let even: Vec<i64> = (0..40)
        .map(|k| 1_790_000_000_000 * MS + k * 100 * MS)
        .collect();
    let later: Vec<i64> = even.iter().map(|end| end + 5_000 * MS).collect();
    let all = [
        recording(0, "a", 0, &even, |_| 0),
        recording(1, "b", 0, &later, |_| 0),
    ];
    assert_eq!(
        align_recordings(&all)[1].clock.map(|c| c.by),
        Some(ClockMethod::WallClock)
    );
    assert_eq!(align_recordings(&all)[1].shift, Nanos(4_993 * MS));
}

#[test]
fn recording_of_another_day_starts_at_zero() {
    let monday = steps(10);
    let friday: Vec<i64> = monday.iter().map(|end| end + 4 * MAX_SESSION_GAP).collect();
    let silent = ClockInfo::default();
    let all = [
        recording(0, "a", 0, &monday, |_| 0),
        recording(0, "a", 0, &friday, |_| 0),
        silent,
    ];
    let found = align_recordings(&all);
    assert_eq!(found[0], Alignment::default());
    for place in &found[1..] {
        assert_eq!(place.shift, Nanos::ZERO);
        assert_eq!(place.clock.map(|c| c.by), Some(ClockMethod::Beginning));
    }
    assert_eq!(
        align_recordings(&[ClockInfo::default()]),
        [Alignment::default()]
    );
    assert!(align_recordings(&[]).is_empty());
}

proptest! {
    /// Random starts: the earliest recording starts at 0, and no recording starts earlier.
    #[test]
    fn no_recording_starts_before_zero(starts in prop::collection::vec((0..4u32, any::<i64>(), 0..3u8), 1..8)) {
        let all: Vec<ClockInfo> = starts.iter().map(|(rank, start, host)| {
            let mut clock_info = ClockInfo::default();
            let info = RunInfo {
                rank: *rank, world_size: 4, started_unix_ns: *start,
                host: if *host == 0 { String::new() } else { host.to_string() },
                ..RunInfo::default()
            };
            let mut record = |at, kind| clock_info.apply(&Event { at: Nanos(at), run: RunId(0), kind });
            record(0, EventKind::RunStarted(Box::new(info)));
            for k in 0..12 {
                record(start.wrapping_mul(k), EventKind::Consumer { waiting: true });
            }
            clock_info
        }).collect();
        let found = align_recordings(&all);
        prop_assert_eq!(found.len(), all.len());
        prop_assert!(found.iter().all(|p| p.shift.0 >= 0));
        prop_assert!(found.iter().any(|p| p.shift.0 == 0));
    }
}
