//! Facts that a run learned about its loader.

use super::Run;
use crate::{BatchId, Fact, Misfit, Nanos};
use loadscope_column::Column;

impl Run {
    pub(super) fn learn(&mut self, at: Nanos, fact: &Fact) {
        if let Fact::EarlierWorkers { .. } = fact {
            let running = self.running.values().flatten().copied();
            for worker in running.collect::<Vec<_>>() {
                self.workers[worker].is_recorded = false;
            }
        }
        self.facts.push((at, fact.clone()));
    }

    /// The facts, with the times at which they became known.
    pub fn facts(&self) -> &Column<(Nanos, Fact)> {
        &self.facts
    }

    /// The result of `len(loader)` in the program: batches of an epoch.
    pub fn length(&self) -> Option<u64> {
        let asked = self.facts.iter().rev().find_map(|(_, fact)| match fact {
            Fact::Length { batches } => Some(*batches),
            _ => None,
        });
        asked.or(self.info.batches_per_epoch)
    }

    /// The file of the sample with this dataset index, if the program named it.
    pub fn file_of(&self, index: u64) -> Option<&str> {
        self.facts.iter().find_map(|(_, fact)| match fact {
            Fact::File { of, position, file } => {
                let row = self.row(*of)?;
                let own = self.indices(row).get(*position as usize);
                (own == Some(&index)).then_some(file.as_str())
            }
            _ => None,
        })
    }

    /// The sample that could not be collated with the others of a batch.
    pub fn misfit(&self, batch: BatchId) -> Option<&Misfit> {
        self.facts.iter().find_map(|(_, fact)| match fact {
            Fact::Misfit(misfit) if misfit.of == batch => Some(misfit),
            _ => None,
        })
    }
}
