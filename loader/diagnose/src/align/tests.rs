use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;

/// A recording of `rank` on `host`, whose wall clock is `ahead`, of a job whose steps end at `ends` (true time, ns since 1970);
/// `jitter` says how late the trainer asks after each.
fn recording(
    rank: u32,
    host: &str,
    ahead: i64,
    ends: &[i64],
    jitter: impl Fn(usize) -> i64,
) -> Marks {
    let zero = ends[0] - 50 * MS - i64::from(rank) * 7 * MS;
    let mut marks = Marks::default();
    let mut tell = |at: i64, kind| {
        marks.take(&Event {
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
    tell(0, EventKind::RunStarted(Box::new(info)));
    tell(0, EventKind::EpochStarted { epoch: 0 });
    tell(1, EventKind::Consumer { waiting: true });
    for (k, end) in ends.iter().enumerate() {
        tell(
            end - zero + jitter(k),
            EventKind::Consumer { waiting: true },
        );
    }
    marks
}

/// The ends of `n` steps of about 100 ms that are not all alike.
fn steps(n: i64) -> Vec<i64> {
    (0..n)
        .map(|k| 1_790_000_000_000 * MS + k * 100 * MS + (k * k % 7) * 9 * MS)
        .collect()
}

/// When the zero of a recording is, in truth, after the earliest.
fn truth(marks: &[Marks], ahead: &[i64]) -> Vec<i64> {
    let begins: Vec<i64> = marks
        .iter()
        .zip(ahead)
        .map(|(m, a)| m.started.unwrap() - a)
        .collect();
    let earliest = *begins.iter().min().unwrap();
    begins.iter().map(|b| b - earliest).collect()
}

#[test]
fn ranks_in_step_show_how_far_their_clocks_are_apart() {
    let ends = steps(40);
    // One host is 0.3 s ahead, another one, which was never set, an hour behind.
    let ahead = [0, 0, 300 * MS, -3_600_000 * MS];
    let hosts = ["a", "a", "b", "c"];
    let all: Vec<Marks> = (0..4)
        .map(|r| {
            recording(r, hosts[r as usize], ahead[r as usize], &ends, |k| {
                (k as i64 * i64::from(r) % 5) * MS / 10
            })
        })
        .collect();
    let truth = truth(&all, &ahead);
    for (k, place) in places(&all).into_iter().enumerate() {
        let off = (place.shift.0 - truth[k]).abs();
        let within = match place.clock {
            None => 1,
            Some(Clock {
                by: ClockBy::Steps,
                within,
            }) => within.expect("it was measured").0,
            Some(other) => panic!("{k}: {other:?}"),
        };
        assert!(
            off <= within && within < MS,
            "{k}: off by {off}, said {within}"
        );
        // The host that begins first is the one whose clock goes.
        assert_eq!(place.clock.is_none(), hosts[k] == "c", "{k}");
    }
}

#[test]
fn without_steps_in_common_wall_clocks_are_what_there_is() {
    let ends = steps(40);
    // Each goes at its own pace.
    let slower = |by: i64| -> Vec<i64> {
        let ends = ends.iter().enumerate();
        ends.map(|(k, end)| end + k as i64 * by * MS).collect()
    };
    let all = [
        recording(0, "a", 0, &ends, |_| 0),
        recording(1, "b", 20 * MS, &slower(40), |_| 0),
        recording(2, "a", 0, &slower(90), |_| 0),
    ];
    let found = places(&all);
    let wall = Clock {
        by: ClockBy::WallClock,
        within: None,
    };
    // The third one begins first, and shares its host with the first.
    assert_eq!(found[2], Place::default());
    assert_eq!((found[0].shift, found[0].clock), (Nanos(14 * MS), None));
    assert_eq!(
        (found[1].shift, found[1].clock),
        (Nanos(27 * MS), Some(wall))
    );
}

#[test]
fn loops_that_are_alike_but_do_not_wait_for_each_other_are_not_moved_far() {
    // Steps of one length: no way to tell which rank waits for which.
    let even: Vec<i64> = (0..40)
        .map(|k| 1_790_000_000_000 * MS + k * 100 * MS)
        .collect();
    let later: Vec<i64> = even.iter().map(|end| end + 5_000 * MS).collect();
    let all = [
        recording(0, "a", 0, &even, |_| 0),
        recording(1, "b", 0, &later, |_| 0),
    ];
    assert_eq!(
        places(&all)[1].clock.map(|c| c.by),
        Some(ClockBy::WallClock)
    );
    assert_eq!(places(&all)[1].shift, Nanos(4_993 * MS));
}

#[test]
fn what_was_recorded_on_other_days_is_shown_from_its_beginning() {
    let monday = steps(10);
    let friday: Vec<i64> = monday.iter().map(|end| end + 4 * A_DAY).collect();
    let silent = Marks::default();
    let all = [
        recording(0, "a", 0, &monday, |_| 0),
        recording(0, "a", 0, &friday, |_| 0),
        silent,
    ];
    let found = places(&all);
    assert_eq!(found[0], Place::default());
    for place in &found[1..] {
        assert_eq!(place.shift, Nanos::ZERO);
        assert_eq!(place.clock.map(|c| c.by), Some(ClockBy::Beginning));
    }
    assert_eq!(places(&[Marks::default()]), [Place::default()]);
    assert!(places(&[]).is_empty());
}

proptest! {
    /// Whatever recordings say, the earliest begins at 0 and nothing before it.
    #[test]
    fn nothing_begins_before_zero(starts in prop::collection::vec((0..4u32, any::<i64>(), 0..3u8), 1..8)) {
        let all: Vec<Marks> = starts.iter().map(|(rank, start, host)| {
            let mut marks = Marks::default();
            let info = RunInfo {
                rank: *rank, world_size: 4, started_unix_ns: *start,
                host: if *host == 0 { String::new() } else { host.to_string() },
                ..RunInfo::default()
            };
            let mut tell = |at, kind| marks.take(&Event { at: Nanos(at), run: RunId(0), kind });
            tell(0, EventKind::RunStarted(Box::new(info)));
            for k in 0..12 {
                tell(start.wrapping_mul(k), EventKind::Consumer { waiting: true });
            }
            marks
        }).collect();
        let found = places(&all);
        prop_assert_eq!(found.len(), all.len());
        prop_assert!(found.iter().all(|p| p.shift.0 >= 0));
        prop_assert!(found.iter().any(|p| p.shift.0 == 0));
    }
}
