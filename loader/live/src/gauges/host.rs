//! Cores that other programs take from a program, within its CPU affinity and the CPU quota of its control groups.

use std::time::{Duration, Instant};

use crate::unrecorded::family;

/// Interval of measurements.
const EVERY: Duration = Duration::from_secs(1);

/// Time from the first measurement to the second, independent of its duration, so that a short program has a value.
const FIRST_AFTER: Duration = Duration::from_millis(500);

/// Inverse of the maximum share of a core for these measurements.
const SHARE: u32 = 400;

/// Measurements of one moment, CPU time in s.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Instant,
    took: Duration,
    /// CPU time of all programs on the cores of the program's affinity.
    busy: f64,
    /// CPU time of the program, its descendants and the recorder.
    own: f64,
}

/// Periodic measurement of the host.
#[derive(Default)]
pub(super) struct Host {
    last: Option<Sample>,
    /// True after the first result.
    has_read: bool,
}

impl Host {
    /// Returns the cores that other programs took since the last measurement, if one is due. `mains` are the main processes of the program.
    pub fn other_cores(&mut self, mains: &[u64], now: Instant) -> Option<f64> {
        let pause = |sample: Sample| match self.has_read {
            true => EVERY.max(sample.took * SHARE),
            false => FIRST_AFTER,
        };
        let is_due = |sample: Sample| now - sample.at >= pause(sample);
        if !self.last.is_none_or(is_due) {
            return None;
        }
        let first = *mains.first()?;
        let cores = system::allowed(first)?;
        let read = Sample {
            at: now,
            took: Duration::ZERO,
            busy: system::busy(&cores)?,
            own: system::program_time(mains)?,
        };
        let before = self.last.replace(Sample {
            took: now.elapsed(),
            ..read
        })?;
        self.has_read = true;
        let passed = (now - before.at).as_secs_f64();
        let others = ((read.busy - before.busy) - (read.own - before.own)) / passed;
        Some(unavailable_cores(others, cores.len(), system::quota(first)))
    }
}

/// Returns the cores that are unavailable to a program with `cores` allowed cores and the quota `quota`, if others use
/// `others`.
fn unavailable_cores(others: f64, cores: usize, quota: Option<f64>) -> f64 {
    let cores = cores as f64;
    let most = quota.map_or(cores, |quota| quota.min(cores));
    let free = cores - others.clamp(0.0, cores);
    (most - free).max(0.0)
}

/// Returns the CPU time on these cores, s. `stat` is the text of `/proc/stat`, with this number of ticks per second.
#[cfg(any(target_os = "linux", test))]
fn parse_busy_time(stat: &str, cores: &[usize], ticks: f64) -> Option<f64> {
    let mut sum = 0.0;
    let mut found = 0;
    for line in stat.lines() {
        let mut words = line.split_ascii_whitespace();
        let core = words
            .next()
            .and_then(|w| w.strip_prefix("cpu")?.parse().ok());
        if core.is_none_or(|core: usize| !cores.contains(&core)) {
            continue;
        }
        found += 1;
        // The columns are user, nice, system, idle, iowait, irq, softirq and steal.
        let spent = words
            .take(8)
            .enumerate()
            .filter(|(k, _)| !matches!(k, 3 | 4));
        sum += spent
            .filter_map(|(_, n)| n.parse::<f64>().ok())
            .sum::<f64>();
    }
    (found > 0).then(|| sum / ticks)
}

/// Parses a `Cpus_allowed_list`: `0-3,8`.
#[cfg(any(target_os = "linux", test))]
fn parse_core_list(text: &str) -> Vec<usize> {
    const MOST: usize = 1 << 14;
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<usize>(), to.parse::<usize>()) {
            all.extend(from..=to.min(from.saturating_add(MOST)));
        }
    }
    all.truncate(MOST);
    all
}

/// Returns the lowest CPU quota of the control groups in `groups` (a `/proc/PID/cgroup`) and their ancestors, cores.
#[cfg(any(target_os = "linux", test))]
fn lowest_quota(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<f64> {
    let mut least: Option<f64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(kinds), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let is_second = kinds.is_empty();
        if !is_second && !kinds.split(',').any(|kind| kind == "cpu") {
            continue;
        }
        let mut path = path.trim_end_matches('/');
        loop {
            let text = match is_second {
                true => read(&format!("/sys/fs/cgroup{path}/cpu.max")),
                false => {
                    let of =
                        |name: &str| read(&format!("/sys/fs/cgroup/cpu{path}/cpu.cfs_{name}_us"));
                    of("quota")
                        .zip(of("period"))
                        .map(|(quota, period)| format!("{quota} {period}"))
                }
            };
            let numbers = text.unwrap_or_default();
            let mut numbers = numbers.split_ascii_whitespace().map(str::parse::<f64>);
            if let (Some(Ok(quota)), Some(Ok(period))) = (numbers.next(), numbers.next())
                && quota > 0.0
                && period > 0.0
            {
                let given = quota / period;
                least = Some(least.map_or(given, |least| least.min(given)));
            }
            match path.rsplit_once('/') {
                Some((outer, _)) => path = outer,
                None => break,
            }
        }
    }
    least
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use super::super::proc::ticks_per_second;
    use super::{family, lowest_quota, parse_busy_time, parse_core_list};
    use crate::unrecorded::proc::parents;

    pub fn allowed(pid: u64) -> Option<Vec<usize>> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let mut lines = status.lines();
        let list = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
        Some(parse_core_list(list)).filter(|cores| !cores.is_empty())
    }

    pub fn busy(cores: &[usize]) -> Option<f64> {
        parse_busy_time(
            &fs::read_to_string("/proc/stat").ok()?,
            cores,
            ticks_per_second(),
        )
    }

    pub fn quota(pid: u64) -> Option<f64> {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        lowest_quota(&groups, |path| fs::read_to_string(path).ok())
    }

    /// Returns the CPU time of these processes, their descendants (also ended ones) and this process.
    pub fn program_time(mains: &[u64]) -> Option<f64> {
        let parents = parents();
        let mut all: Vec<u64> = mains
            .iter()
            .flat_map(|pid| family(*pid, &parents))
            .collect();
        all.push(u64::from(std::process::id()));
        all.sort_unstable();
        all.dedup();
        Some(all.into_iter().filter_map(spent).sum())
    }

    fn spent(pid: u64) -> Option<f64> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The process name in parentheses can contain any character.
        let fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let ticks = fields
            .skip(11)
            .take(4)
            .filter_map(|n| n.parse::<f64>().ok());
        Some(ticks.sum::<f64>() / ticks_per_second())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub fn allowed(_: u64) -> Option<Vec<usize>> {
        None
    }
    pub fn busy(_: &[usize]) -> Option<f64> {
        None
    }
    pub fn quota(_: u64) -> Option<f64> {
        None
    }
    pub fn program_time(_: &[u64]) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_taken_by_others_are_limited_to_usable_cores() {
        assert_eq!(unavailable_cores(0.0, 2, None), 0.0);
        assert_eq!(unavailable_cores(1.0, 2, None), 1.0);
        assert_eq!(unavailable_cores(-0.2, 2, None), 0.0);
        // 4 of 64 cores are usable, and 30 are busy.
        assert_eq!(unavailable_cores(30.0, 64, Some(4.0)), 0.0);
        assert_eq!(unavailable_cores(62.0, 64, Some(4.0)), 2.0);
        assert_eq!(unavailable_cores(99.0, 2, None), 2.0);
    }

    #[test]
    fn only_cores_in_the_cpu_affinity_count() {
        let stat = "cpu  9 9 9 9\ncpu0 100 0 50 900 7 1 2 3 0 0\ncpu1 10 0 0 0 0 0 0 0\ncpu11 5 0 0 1 1\nintr 7\n";
        assert_eq!(parse_busy_time(stat, &[0], 100.0), Some(1.56));
        assert_eq!(parse_busy_time(stat, &[1, 11], 100.0), Some(0.15));
        assert_eq!(parse_busy_time(stat, &[7], 100.0), None);
        assert_eq!(parse_core_list(" 0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(parse_core_list("nonsense"), Vec::<usize>::new());
    }

    #[test]
    fn the_smallest_quota_of_both_cgroup_versions_counts() {
        let read = |path: &str| {
            let text = match path {
                "/sys/fs/cgroup/a/b/cpu.max" => "max 100000",
                "/sys/fs/cgroup/a/cpu.max" => "150000 100000",
                "/sys/fs/cgroup/cpu/d/cpu.cfs_quota_us" => "50000\n",
                "/sys/fs/cgroup/cpu/d/cpu.cfs_period_us" => "100000\n",
                _ => return None,
            };
            Some(text.to_owned())
        };
        assert_eq!(lowest_quota("0::/a/b\n", read), Some(1.5));
        assert_eq!(
            lowest_quota("3:cpu,cpuacct:/d\n1:cpuset:/a\n", read),
            Some(0.5)
        );
        assert_eq!(lowest_quota("0::/x\n", read), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_first_reading_comes_after_a_short_interval() {
        let mut host = Host::default();
        let mains = [u64::from(std::process::id())];
        let start = Instant::now();
        assert_eq!(host.other_cores(&mains, start), None);
        // A measurement takes long on a busy host.
        let first = host.last.as_mut().expect("the first look");
        first.took = Duration::from_millis(20);
        assert_eq!(host.other_cores(&mains, start + FIRST_AFTER / 2), None);
        assert!(host.other_cores(&mains, start + FIRST_AFTER).is_some());
        assert_eq!(host.other_cores(&mains, start + FIRST_AFTER * 2), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn other_programs_are_measured_and_children_are_not() {
        let spin = || {
            let mut command = std::process::Command::new("sh");
            command
                .args(["-c", "while :; do :; done"])
                .spawn()
                .expect("sh")
        };
        let (mut main, mut other) = (spin(), spin());
        let mut host = Host::default();
        let mains = [u64::from(main.id())];
        assert_eq!(host.other_cores(&mains, Instant::now()), None);
        // On a busy host, a measurement takes longer, so the interval is longer.
        let until = Instant::now() + Duration::from_secs(30);
        let others = loop {
            std::thread::sleep(EVERY);
            match host.other_cores(&mains, Instant::now()) {
                Some(others) => break others,
                None => assert!(Instant::now() < until, "it is never due"),
            }
        };
        assert!(others > 0.2, "{others}");
        for child in [&mut main, &mut other] {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
        }
    }
}
