use super::Run;
use crate::{BatchId, Fact, Misfit, Nanos};
use loadscope_column::Column;

impl Run {
    pub(super) fn apply_fact(&mut self, at: Nanos, fact: &Fact) {
        if let Fact::EarlierWorkers { .. } = fact {
            let running = self.running.values().flatten().copied();
            for worker in running.collect::<Vec<_>>() {
                self.workers[worker].is_recorded = false;
            }
        }
        self.facts.push((at, fact.clone()));
    }

    /// Returns the facts and the times at which they were learned.
    pub fn facts(&self) -> &Column<(Nanos, Fact)> {
        &self.facts
    }

    /// Returns the number of batches per epoch, from `len(loader)` in the program or from the description of the loader.
    pub fn length(&self) -> Option<u64> {
        let asked = self.facts.iter().rev().find_map(|(_, fact)| match fact {
            Fact::Length { batches } => Some(*batches),
            _ => None,
        });
        asked.or(self.info.batches_per_epoch)
    }

    /// Returns the file of the sample with this dataset index, if recorded.
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

    /// Returns the source code of a file, if recorded.
    pub fn source(&self, file: &str) -> Option<&str> {
        self.facts.iter().find_map(|(_, fact)| match fact {
            Fact::Source { file: path, text } if path == file => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the sample that could not be collated with the others of a batch.
    pub fn misfit(&self, batch: BatchId) -> Option<&Misfit> {
        self.facts.iter().find_map(|(_, fact)| match fact {
            Fact::Misfit(misfit) if misfit.of == batch => Some(misfit),
            _ => None,
        })
    }
}
