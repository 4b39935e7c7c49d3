//! Memory that is available to a program: on the host, or in its control groups.

/// Returns the available memory of the process, bytes.
#[cfg(target_os = "linux")]
pub fn memory(pid: u64) -> Option<f64> {
    use std::fs;
    let host = fs::read_to_string("/proc/meminfo").ok()?;
    let host = host
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let host: f64 = host.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()? * 1024.0;
    let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    Some(
        in_groups(&groups, |path| fs::read_to_string(path).ok())
            .map_or(host, |left| left.min(host)),
    )
}

#[cfg(not(target_os = "linux"))]
pub fn memory(_: u64) -> Option<f64> {
    None
}

/// Returns the smallest available memory of the control groups in `groups` (a `/proc/PID/cgroup`) and their ancestors.
#[cfg(any(target_os = "linux", test))]
fn in_groups(groups: &str, read: impl Fn(&str) -> Option<String>) -> Option<f64> {
    let number = |path: &str| read(path)?.trim().parse::<f64>().ok();
    // The kernel can free cached file pages at once.
    let cached = |path: &str| {
        let stat = read(path)?;
        let line = stat.lines().find_map(|l| {
            l.strip_prefix("total_inactive_file ")
                .or(l.strip_prefix("inactive_file "))
        });
        line?.trim().parse::<f64>().ok()
    };
    let mut least: Option<f64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(kinds), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let (root, most, used) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            _ if kinds.split(',').any(|kind| kind == "memory") => (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            ),
            _ => continue,
        };
        let mut path = path.trim_end_matches('/');
        loop {
            let of = |name: &str| format!("{root}{path}/{name}");
            if let Some((most, used)) = number(&of(most)).zip(number(&of(used))) {
                let free = most - used + cached(&of("memory.stat")).unwrap_or(0.0);
                let free = free.max(0.0);
                least = Some(least.map_or(free, |before| before.min(free)));
            }
            match path.rfind('/') {
                Some(at) => path = &path[..at],
                None => break,
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_cgroup_counts_without_cached_files() {
        let files = [
            ("/sys/fs/cgroup/job/task/memory.max", "max\n"),
            ("/sys/fs/cgroup/job/task/memory.current", "100\n"),
            ("/sys/fs/cgroup/job/memory.max", "1000\n"),
            ("/sys/fs/cgroup/job/memory.current", "900\n"),
            (
                "/sys/fs/cgroup/job/memory.stat",
                "anon 5\ninactive_file 300\n",
            ),
        ];
        let read = |path: &str| {
            let found = files.iter().find(|(name, _)| *name == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        assert_eq!(in_groups("0::/job/task\n", read), Some(400.0));
        assert_eq!(in_groups("0::/\n", read), None);
        assert_eq!(in_groups("4:cpu:/x\nnonsense\n", read), None);
        let old = |path: &str| match path {
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes" => Some("50".to_owned()),
            "/sys/fs/cgroup/memory/a/memory.usage_in_bytes" => Some("80".to_owned()),
            _ => None,
        };
        assert_eq!(in_groups("3:memory,x:/a\n", old), Some(0.0));
    }
}
