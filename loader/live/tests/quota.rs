//! Test of the number of cores, which includes the CPU quota of control groups.

use std::process::Command;

/// Python program that calls the probe's function with fake files.
const ASK: &str = r#"
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)

def read(files):
    def of(path):
        if path not in files:
            raise FileNotFoundError(path)
        return files[path]
    return of

two = "0::/user.slice/job.scope\n"
one = "4:cpu,cpuacct:/docker/abc\n3:memory:/docker/abc\n"
cases = [
    (two, {}),
    (two, {"/sys/fs/cgroup/user.slice/job.scope/cpu.max": "max 100000\n"}),
    (two, {"/sys/fs/cgroup/user.slice/job.scope/cpu.max": "150000 100000\n"}),
    (two, {"/sys/fs/cgroup/user.slice/job.scope/cpu.max": "400000 100000\n", "/sys/fs/cgroup/user.slice/cpu.max": "200000 100000\n"}),
    (one, {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "50000\n", "/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n"}),
    (one, {"/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us": "100000\n"}),
]
print(json.dumps([probe.quota_of(groups, read(files)) for groups, files in cases]))
print(probe.cores())
"#;

#[test]
fn a_cgroup_quota_below_the_number_of_cores_is_used() {
    let probe = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../assets/probe/loadscope_probe.py"
    );
    let asked = Command::new("python3").args(["-c", ASK, probe]).output();
    let Ok(asked) = asked else {
        // Without Python, the test is skipped.
        return;
    };
    let errors = String::from_utf8_lossy(&asked.stderr).into_owned();
    assert!(asked.status.success(), "{errors}");
    let text = String::from_utf8_lossy(&asked.stdout).into_owned();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("[null, null, 1.5, 2.0, 0.5, null]"));
    let cores: usize = lines.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    assert!(cores >= 1);
}
