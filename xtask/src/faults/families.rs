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

/// Every case, with so many kills.
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
    fn there_are_at_least_eighty_and_every_name_is_its_own() {
        let cases = all(300);
        let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        assert!(cases.len() >= 80, "{}", cases.len());
        assert!(cases.iter().filter(|case| case.fast).count() >= 60);
    }
}
