//! Utilization and memory of the GPUs that a program uses, from the NVIDIA Management Library (NVML).

use std::ffi::OsStr;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, Builder};
use std::time::Duration;

use loadscope_trace::GaugeKind;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

/// Interval of measurements. NVML itself averages the utilization over up to a second.
const EVERY: Duration = Duration::from_millis(500);

/// File name of the library. Drivers install it without the development package.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// Measurement of GPUs. A thread measures, because loading NVML can take seconds.
#[derive(Default)]
pub(super) struct Gpu {
    shared: Option<Arc<Mutex<Shared>>>,
}

#[derive(Default)]
struct Shared {
    pids: Vec<u64>,
    values: Vec<(GaugeKind, f64)>,
}

impl Gpu {
    /// Returns the last values of the GPUs of these processes: the mean utilization, 0 to 1, and the sum of the used memory, bytes. Other
    /// programs on the same GPUs are included. The thread starts when a process has opened a GPU, which `searches` looks for.
    pub fn values(&mut self, pids: &[u64], searches: bool) -> Vec<(GaugeKind, f64)> {
        if searches && self.shared.is_none() && pids.iter().any(|pid| has_opened_gpu(*pid)) {
            let shared = Arc::new(Mutex::new(Shared::default()));
            let weak = Arc::downgrade(&shared);
            let thread = Builder::new().name("gpu".to_owned());
            // Without the thread, the program has no such gauges.
            let _ = thread.spawn(move || measure(&weak));
            self.shared = Some(shared);
        }
        let Some(shared) = &self.shared else {
            return Vec::new();
        };
        let mut shared = lock(shared);
        shared.pids = pids.to_vec();
        shared.values.clone()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measures until the recording ends. Returns at once on a host without NVML.
fn measure(shared: &Weak<Mutex<Shared>>) {
    let Ok(nvml) = Nvml::builder().lib_path(OsStr::new(LIBRARY)).init() else {
        return;
    };
    while let Some(shared) = shared.upgrade() {
        let pids = lock(&shared).pids.clone();
        let values = read(&nvml, &pids);
        lock(&shared).values = values;
        drop(shared);
        thread::sleep(EVERY);
    }
}

fn has_opened_gpu(pid: u64) -> bool {
    let files = fs::read_dir(format!("/proc/{pid}/fd"));
    let mut files = files.into_iter().flatten().flatten();
    files.any(|file| fs::read_link(file.path()).is_ok_and(|to| is_gpu(&to)))
}

/// Returns true for `/dev/nvidia0` and others.
fn is_gpu(path: &std::path::Path) -> bool {
    let number = path
        .to_str()
        .and_then(|path| path.strip_prefix("/dev/nvidia"));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the values that the driver knows.
fn read(nvml: &Nvml, pids: &[u64]) -> Vec<(GaugeKind, f64)> {
    let count = nvml.device_count().unwrap_or(0);
    let all = (0..count).filter_map(|index| nvml.device_by_index(index).ok());
    let all: Vec<Device<'_>> = all.collect();
    let mut own: Vec<&Device<'_>> = all.iter().filter(|one| is_used(one, pids)).collect();
    if own.is_empty() && all.len() == 1 && !pids.is_empty() {
        // The ids of processes in a container are unknown to the driver.
        own.extend(all.first());
    }
    let known = |value: &dyn Fn(&Device<'_>) -> Result<f64, NvmlError>| -> Vec<f64> {
        own.iter().filter_map(|one| value(one).ok()).collect()
    };
    let busy = known(&|one| Ok(f64::from(one.utilization_rates()?.gpu) / 100.0));
    let memory = known(&|one| Ok(one.memory_info()?.used as f64));
    let mean = (!busy.is_empty()).then(|| busy.iter().sum::<f64>() / busy.len() as f64);
    let sum = (!memory.is_empty()).then(|| memory.iter().sum::<f64>());
    let values = [(GaugeKind::GpuBusy, mean), (GaugeKind::GpuMemory, sum)];
    let known = values
        .into_iter()
        .filter_map(|(what, value)| Some((what, value?)));
    known.collect()
}

fn is_used(device: &Device<'_>, pids: &[u64]) -> bool {
    let running = device.running_compute_processes().unwrap_or_default();
    running.iter().any(|one| pids.contains(&u64::from(one.pid)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// Imitation of NVML. Process 7 uses the second GPU, which is busy for 25 % of the time and has 3 GB in use.
    const FAKE: &str = r#"
        #include <stdint.h>
        typedef struct { uint32_t pid; uint64_t used; uint32_t gi, ci; } process;
        typedef struct { uint32_t version; uint64_t total, reserved, free, used; } memory;
        int nvmlInit_v2(void) { return 0; }
        int nvmlShutdown(void) { return 0; }
        int nvmlDeviceGetCount_v2(uint32_t *count) { *count = COUNT; return 0; }
        int nvmlDeviceGetHandleByIndex_v2(uint32_t index, void **device) { *device = (void *)(uintptr_t)(index + 1); return 0; }
        int nvmlDeviceGetUtilizationRates(void *device, uint32_t *rates) { rates[0] = 25; rates[1] = 0; return device == (void *)2 ? 0 : 3; }
        int nvmlDeviceGetMemoryInfo_v2(void *device, memory *found) { found->used = device == (void *)2 ? 3000000000 : 1; return 0; }
        int nvmlDeviceGetComputeRunningProcesses_v3(void *device, uint32_t *count, process *found) {
            if (device != (void *)2) { *count = 0; return 0; }
            if (*count < 1) { *count = 1; return 7; }
            *count = 1; found->pid = 7; found->used = 1; found->gi = found->ci = -1; return 0;
        }
    "#;

    /// Returns the measurement of processes with a library of `count` GPUs.
    #[allow(clippy::disallowed_methods, reason = "the compiler reads a file")]
    fn measured(count: u32, pids: &[u64]) -> Vec<(GaugeKind, f64)> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (source, library) = (folder.path().join("nvml.c"), folder.path().join("nvml.so"));
        let text = FAKE.replace("COUNT", &count.to_string());
        fs::write(&source, text).expect("written");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
        let done = compiler.arg(&source).status();
        assert!(done.expect("a C compiler").success());
        let nvml = Nvml::builder().lib_path(library.as_os_str()).init();
        read(&nvml.expect("the library loads"), pids)
    }

    #[test]
    fn the_gpus_of_the_program_are_measured() {
        let of_second = [(GaugeKind::GpuBusy, 0.25), (GaugeKind::GpuMemory, 3e9)];
        assert_eq!(measured(2, &[5, 7]), of_second);
        assert_eq!(measured(2, &[5]), []);
        // The utilization of the only GPU is unknown.
        assert_eq!(measured(1, &[5]), [(GaugeKind::GpuMemory, 1.0)]);
    }

    #[test]
    fn a_program_without_a_gpu_starts_no_thread() {
        let own = u64::from(std::process::id());
        let mut gpu = Gpu::default();
        assert_eq!(gpu.values(&[own], true), []);
        assert!(gpu.shared.is_none());
        let is_gpu = |path: &str| is_gpu(std::path::Path::new(path));
        assert!(is_gpu("/dev/nvidia0") && !is_gpu("/dev/nvidiactl") && !is_gpu("/dev/null"));
    }
}
