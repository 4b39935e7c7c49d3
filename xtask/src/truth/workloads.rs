//! The workloads: programs in tests/pytorch/truth/workloads, and the settings of their runs.

use anyhow::{Result, bail};

use super::setting::Setting;

/// Workload of a typical loader.
#[derive(Debug)]
pub struct Workload {
    /// Name of its Python module.
    pub name: &'static str,
    /// Name in the table.
    pub description: &'static str,
    /// Setting of the recorded run.
    pub recorded: Setting,
    settings: &'static [&'static str],
}

impl Workload {
    /// Returns the settings of the runs, including the recorded one.
    pub fn settings(&self) -> Result<Vec<Setting>> {
        let mut all = vec![self.recorded];
        for text in self.settings {
            let setting = text.parse()?;
            if !all.contains(&setting) {
                all.push(setting);
            }
        }
        all.sort_by_key(|s| {
            (
                s.num_workers,
                s.prefetch_factor,
                s.persistent_workers,
                !s.in_order,
            )
        });
        Ok(all)
    }
}

/// Workers that wait: more of them help, far beyond the number of cores.
const WAITS: &[&str] = &[
    "num_workers=0",
    "num_workers=1",
    "num_workers=2",
    "num_workers=3",
    "num_workers=4",
    "num_workers=8",
    "num_workers=2,prefetch_factor=4",
    "num_workers=4,in_order=false",
];
/// Workers that compute: the number of cores is the limit.
const COMPUTES: &[&str] = &[
    "num_workers=0",
    "num_workers=1",
    "num_workers=2",
    "num_workers=3",
    "num_workers=4",
    "num_workers=1,prefetch_factor=4",
    "num_workers=2,prefetch_factor=4",
    "num_workers=4,prefetch_factor=1",
];
/// Several epochs, where persistent workers matter.
const EPOCHS: &[&str] = &[
    "num_workers=0",
    "num_workers=1",
    "num_workers=2",
    "num_workers=3",
    "num_workers=4",
    "num_workers=1,persistent_workers=true",
    "num_workers=2,persistent_workers=true",
    "num_workers=4,persistent_workers=true",
];
/// Spawned workers, which take seconds to start.
const SPAWNED: &[&str] = &[
    "num_workers=0",
    "num_workers=1",
    "num_workers=2",
    "num_workers=3",
    "num_workers=4",
    "num_workers=1,persistent_workers=true",
    "num_workers=2,persistent_workers=true",
];

const fn workload(
    name: &'static str,
    description: &'static str,
    settings: &'static [&'static str],
) -> Workload {
    Workload {
        name,
        description,
        recorded: Setting::workers(2),
        settings,
    }
}

/// All workloads, in the order of the measurements.
pub const WORKLOADS: &[Workload] = &[
    workload("disk", "Waiting for a disk", WAITS),
    workload("network", "Waiting for a network", WAITS),
    workload("heavy_tail", "A heavy tail", WAITS),
    workload("half_half", "Half waiting, half computing", WAITS),
    workload("jpeg", "Decoding JPEGs", COMPUTES),
    workload("augmentation", "Augmentation with NumPy", COMPUTES),
    workload("large_tensors", "Large tensors", COMPUTES),
    workload("tiny_rows", "Tiny rows", COMPUTES),
    workload("whole_batches", "Whole batches at once", COMPUTES),
    workload("text", "Text with padding", COMPUTES),
    workload("tokens", "Memory-mapped tokens", COMPUTES),
    workload("stream", "A stream", COMPUTES),
    workload("computing_step", "A computing step on all cores", COMPUTES),
    workload("slow_init", "Slow initialisation", EPOCHS),
    workload("short_epochs", "Short epochs", EPOCHS),
    workload("spawned", "Spawned workers", SPAWNED),
];

/// Returns the workloads with these names, or all if none is given.
pub fn chosen(only: &[String]) -> Result<Vec<&'static Workload>> {
    for name in only {
        if !WORKLOADS.iter().any(|work| work.name == name) {
            let names: Vec<&str> = WORKLOADS.iter().map(|work| work.name).collect();
            bail!(
                "Workload {name} does not exist. Choose one of: {}.",
                names.join(", ")
            );
        }
    }
    let wanted = |work: &&Workload| only.is_empty() || only.iter().any(|name| work.name == name);
    Ok(WORKLOADS.iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_workload_has_a_program_and_enough_settings() -> Result<()> {
        assert!(WORKLOADS.len() >= 14);
        let folder = crate::setup::workspace().join("tests/pytorch/truth/workloads");
        for work in WORKLOADS {
            let settings = work.settings()?;
            assert!(settings.len() >= 7, "{}", work.name);
            assert!(settings.contains(&work.recorded), "{}", work.name);
            assert!(
                folder.join(format!("{}.py", work.name)).is_file(),
                "{}",
                work.name
            );
        }
        let names: HashSet<_> = WORKLOADS.iter().map(|work| work.name).collect();
        assert_eq!(names.len(), WORKLOADS.len());
        Ok(())
    }

    #[test]
    fn unknown_names_are_refused() -> Result<()> {
        assert_eq!(chosen(&["jpeg".to_owned()])?.len(), 1);
        assert_eq!(chosen(&[])?.len(), WORKLOADS.len());
        assert!(chosen(&["jpegs".to_owned()]).is_err());
        Ok(())
    }
}
