//! Settings of the loader, with PyTorch's names.

use std::fmt;
use std::str::FromStr;

use anyhow::{Context, Error, bail};
use serde::{Deserialize, Serialize};

/// Settings that differ between runs of the same workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    pub num_workers: usize,
    /// `None` without workers, where PyTorch does not allow a value.
    pub prefetch_factor: Option<usize>,
    pub in_order: bool,
    pub persistent_workers: bool,
}

/// PyTorch's default with workers.
const PREFETCH: usize = 2;

impl Setting {
    /// Returns this number of workers with PyTorch's defaults.
    pub const fn workers(num_workers: usize) -> Self {
        Self {
            num_workers,
            prefetch_factor: if num_workers > 0 {
                Some(PREFETCH)
            } else {
                None
            },
            in_order: true,
            persistent_workers: false,
        }
    }

    /// Returns the arguments for the program, each `name=value`.
    pub fn arguments(self) -> Vec<String> {
        let mut words = vec![format!("num_workers={}", self.num_workers)];
        if self.num_workers > 0 {
            words.extend(self.prefetch_factor.map(|n| format!("prefetch_factor={n}")));
            words.push(format!("in_order={}", self.in_order));
            words.push(format!("persistent_workers={}", self.persistent_workers));
        }
        words
    }

    /// Returns true if only the numbers of workers and the prefetch factors differ.
    pub fn is_of_one_grid(self, other: Self) -> bool {
        self.in_order == other.in_order && self.persistent_workers == other.persistent_workers
    }
}

/// Parses `num_workers=4,prefetch_factor=1,in_order=false,persistent_workers=true`. Omitted values are PyTorch's defaults.
impl FromStr for Setting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut setting: Option<Self> = None;
        for word in text.split(',') {
            let (name, value) = word
                .split_once('=')
                .with_context(|| format!("{word} is no name=value"))?;
            let number = || {
                value
                    .parse::<usize>()
                    .with_context(|| format!("{word}: {value} is not a number"))
            };
            let flag = || {
                value
                    .parse::<bool>()
                    .with_context(|| format!("{word}: {value} is neither true nor false"))
            };
            match (name, &mut setting) {
                ("num_workers", None) => setting = Some(Self::workers(number()?)),
                ("prefetch_factor", Some(one)) if one.num_workers > 0 => {
                    one.prefetch_factor = Some(number()?);
                }
                ("in_order", Some(one)) => one.in_order = flag()?,
                ("persistent_workers", Some(one)) => one.persistent_workers = flag()?,
                _ => bail!(
                    "{text}: {name} is unexpected. Write num_workers first, then prefetch_factor, in_order or persistent_workers"
                ),
            }
        }
        setting.with_context(|| format!("{text} has no num_workers. Example: num_workers=4"))
    }
}

/// Formats the setting in Python's syntax, without defaults.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "num_workers={}", self.num_workers)?;
        if let Some(factor) = self.prefetch_factor.filter(|n| *n != PREFETCH) {
            write!(f, ", prefetch_factor={factor}")?;
        }
        if self.persistent_workers {
            f.write_str(", persistent_workers=True")?;
        }
        if !self.in_order {
            f.write_str(", in_order=False")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_become_program_arguments() {
        let read = |text: &str| text.parse::<Setting>().expect("a setting");
        assert_eq!(read("num_workers=0"), Setting::workers(0));
        assert_eq!(Setting::workers(0).arguments(), ["num_workers=0"]);
        let all = read("num_workers=4,prefetch_factor=1,in_order=false,persistent_workers=true");
        assert_eq!(
            all.arguments(),
            [
                "num_workers=4",
                "prefetch_factor=1",
                "in_order=false",
                "persistent_workers=true"
            ]
        );
        assert_eq!(
            all.to_string(),
            "num_workers=4, prefetch_factor=1, persistent_workers=True, in_order=False"
        );
        assert_eq!(
            read("num_workers=2,prefetch_factor=2").to_string(),
            "num_workers=2"
        );
    }

    #[test]
    fn invalid_settings_are_refused() {
        for text in [
            "",
            "workers=2",
            "num_workers=x",
            "prefetch_factor=2",
            "num_workers=0,prefetch_factor=2",
            "num_workers=1,in_order=1",
        ] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }
}
