//! The cases, by family.

use super::case::Case;

mod changing;
mod devices;
mod disk;
mod disk_faults;
mod display;
mod door;
mod kills;
mod limits;
mod odd;
mod pytorch;
mod signals;
mod streams;
mod vanish;
mod writers;

/// Returns all cases, with this number of kills in total.
pub fn all(kills: u32) -> Vec<Case> {
    [
        disk::cases(),
        streams::cases(),
        signals::cases(),
        limits::cases(),
        writers::cases(),
        devices::cases(),
        vanish::cases(),
        changing::cases(),
        odd::cases(),
        door::cases(),
        display::cases(),
        pytorch::cases(),
        kills::cases(kills),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn at_least_80_cases_have_unique_names() {
        let cases = all(300);
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        assert!(cases.len() >= 80, "{}", cases.len());
        let fast = cases.iter().filter(|case| case.fast).count();
        assert!(fast >= 120, "{fast}");
    }

    /// Former bugs are tested in CI.
    #[test]
    fn cases_of_former_bugs_are_fast() {
        let cases = all(20);
        for (family, part) in [
            ("disk", "full disk at every write"),
            ("disk", "full disk at fsync"),
            ("disk", "largest file"),
            ("streams", "watch, standard error is full"),
            ("streams", "standard error is read late"),
            ("streams", "wrong arguments, "),
            ("limits", "few descriptors"),
            ("limits", "little memory"),
            ("outputs", "into a pipe"),
            ("outputs", "into a pipe without a reader"),
            ("outputs", "into impossible names"),
            ("outputs", "onto its input"),
            ("window", "preferences, full disk"),
            ("window", "SIGTERM"),
            ("window", "the display dies"),
            ("window", "the data folder is"),
            ("window", "the journal's disk is"),
            ("kills", "the window"),
            ("kills", "a run of the window"),
        ] {
            let is_it = |case: &Case| case.family == family && case.name.contains(part);
            let fast = cases.iter().filter(|case| is_it(case) && case.fast);
            assert!(fast.count() > 0, "{family}: {part}");
        }
    }
}
