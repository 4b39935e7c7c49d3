//! Utilization and memory of the GPUs that a program uses, from the NVIDIA Management Library (NVML).

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use loadscope_trace::GaugeKind;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

/// Interval of measurements. NVML itself averages the utilization over up to a second.
const EVERY: Duration = Duration::from_millis(500);

/// File name of the library. Drivers install it without the development package.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// NVML, loaded at the first measurement.
#[derive(Default)]
pub(super) struct Gpu {
    state: State,
    last: Option<Instant>,
}

#[derive(Default)]
enum State {
    #[default]
    Unloaded,
    Loaded(Box<Nvml>),
    /// The host has no NVIDIA driver.
    Missing,
}

impl Gpu {
    /// Measures the GPUs of these processes: the mean utilization, 0 to 1, and the sum of the used memory, bytes. Other programs on the same
    /// GPUs are included. Returns `None` if no measurement is due or no GPU is known.
    pub fn measure(&mut self, pids: &[u64], now: Instant) -> Option<[(GaugeKind, f64); 2]> {
        if pids.is_empty() || self.last.is_some_and(|last| now - last < EVERY) {
            return None;
        }
        self.last = Some(now);
        let nvml = self.library(OsStr::new(LIBRARY))?;
        read(nvml, pids).ok().flatten()
    }

    fn library(&mut self, path: &OsStr) -> Option<&Nvml> {
        if let State::Unloaded = self.state {
            self.state = match Nvml::builder().lib_path(path).init() {
                Ok(nvml) => State::Loaded(Box::new(nvml)),
                Err(_) => State::Missing,
            };
        }
        match &self.state {
            State::Loaded(nvml) => Some(nvml),
            State::Unloaded | State::Missing => None,
        }
    }
}

fn read(nvml: &Nvml, pids: &[u64]) -> Result<Option<[(GaugeKind, f64); 2]>, NvmlError> {
    let all = (0..nvml.device_count()?).map(|index| nvml.device_by_index(index));
    let all: Vec<Device<'_>> = all.collect::<Result<_, _>>()?;
    let mut own: Vec<&Device<'_>> = all.iter().filter(|one| is_used(one, pids)).collect();
    if own.is_empty() && all.len() == 1 {
        // The ids of processes in a container are unknown to the driver.
        own.extend(all.first());
    }
    let (mut busy, mut memory) = (0.0, 0.0);
    for device in &own {
        busy += f64::from(device.utilization_rates()?.gpu) / 100.0;
        memory += device.memory_info()?.used as f64;
    }
    let count = own.len() as f64;
    Ok((count > 0.0).then(|| {
        [
            (GaugeKind::GpuBusy, busy / count),
            (GaugeKind::GpuMemory, memory),
        ]
    }))
}

fn is_used(device: &Device<'_>, pids: &[u64]) -> bool {
    let running = device.running_compute_processes().unwrap_or_default();
    running.iter().any(|one| pids.contains(&u64::from(one.pid)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// A library with two GPUs. Process 7 uses the second one, which is busy for 25 % of the time and has 3 GB in use.
    const FAKE: &str = r#"
        #include <stdint.h>
        typedef struct { uint32_t pid; uint64_t used; uint32_t gi, ci; } process;
        typedef struct { uint32_t version; uint64_t total, reserved, free, used; } memory;
        int nvmlInit_v2(void) { return 0; }
        int nvmlShutdown(void) { return 0; }
        int nvmlDeviceGetCount_v2(uint32_t *count) { *count = COUNT; return 0; }
        int nvmlDeviceGetHandleByIndex_v2(uint32_t index, void **device) { *device = (void *)(uintptr_t)(index + 1); return 0; }
        int nvmlDeviceGetUtilizationRates(void *device, uint32_t *rates) { rates[0] = device == (void *)2 ? 25 : 99; rates[1] = 0; return 0; }
        int nvmlDeviceGetMemoryInfo_v2(void *device, memory *found) { found->used = device == (void *)2 ? 3000000000 : 1; return 0; }
        int nvmlDeviceGetComputeRunningProcesses_v3(void *device, uint32_t *count, process *found) {
            if (device != (void *)2) { *count = 0; return 0; }
            if (*count < 1) { *count = 1; return 7; }
            *count = 1; found->pid = 7; found->used = 1; found->gi = found->ci = -1; return 0;
        }
    "#;

    /// Returns the measurement of processes with a library of `count` GPUs.
    fn measured(count: u32, pids: &[u64]) -> Option<[(GaugeKind, f64); 2]> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (source, library) = (folder.path().join("nvml.c"), folder.path().join("nvml.so"));
        std::fs::write(&source, FAKE.replace("COUNT", &count.to_string())).expect("written");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
        assert!(
            compiler
                .arg(&source)
                .status()
                .expect("a C compiler")
                .success()
        );
        let mut gpu = Gpu::default();
        let nvml = gpu.library(library.as_os_str()).expect("the library loads");
        read(nvml, pids).expect("all functions exist")
    }

    #[test]
    fn the_gpus_of_the_program_are_measured() {
        let of_second = [(GaugeKind::GpuBusy, 0.25), (GaugeKind::GpuMemory, 3e9)];
        assert_eq!(measured(2, &[5, 7]), Some(of_second));
        assert_eq!(measured(2, &[5]), None);
        let of_first = [(GaugeKind::GpuBusy, 0.99), (GaugeKind::GpuMemory, 1.0)];
        assert_eq!(measured(1, &[5]), Some(of_first));
    }

    #[test]
    fn a_host_without_nvml_has_no_gauges() {
        let mut gpu = Gpu::default();
        assert!(
            gpu.library(OsStr::new("/nonexistent/libnvidia-ml.so.1"))
                .is_none()
        );
        assert!(matches!(gpu.state, State::Missing));
    }
}
