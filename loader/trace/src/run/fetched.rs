//! Sample times of batches.

use super::Run;
use crate::Nanos;
use crate::batch::Extent;
use crate::event::Fetched;

/// Maximum number of different lists of stage names. A dataset usually has the same list for every batch. An unlimited number of lists
/// would make the search slow.
const MAX_STAGE_LISTS: usize = 256;

impl Run {
    pub(super) fn apply_fetched(&mut self, at: Nanos, fetched: &Fetched) {
        let row = self.row(fetched.batch);
        // Sample times are stored only once per batch, even for a batch without samples.
        let Some(row) = row.filter(|row| !self.batches[*row].is_measured()) else {
            self.inconsistent += 1;
            return;
        };
        let Ok(count) = u32::try_from(fetched.samples.len()) else {
            self.inconsistent += 1;
            return;
        };
        self.batches[row].timings = Extent::new(self.timings.len(), count);
        self.timings.extend(&fetched.samples);
        self.stages_of(at, row, fetched);
        if self.batches[row].is_measured() {
            self.fetches.push((at, row as u32));
        }
    }

    /// Stores the named stages of the batch at `row`.
    fn stages_of(&mut self, at: Nanos, row: usize, fetched: &Fetched) {
        let names = || fetched.stages.iter().map(|s| &s.name);
        let known = self.stage_names.iter().position(|n| n.iter().eq(names()));
        let may_add = self.stage_names.len() < MAX_STAGE_LISTS;
        let (Ok(stages), true) = (
            u16::try_from(fetched.stages.len()),
            known.is_some() || may_add,
        ) else {
            self.inconsistent += 1;
            return;
        };
        let names_at = known.unwrap_or_else(|| {
            self.stage_names.push(names().cloned().collect());
            self.stage_names_at.push(at);
            self.stage_names.len() - 1
        });
        let batch = &mut self.batches[row];
        batch.stages = Extent::new(self.stage_walls.len(), u32::from(stages));
        batch.stage_names = Some(names_at as u16);
        let count = fetched.samples.len();
        for stage in &fetched.stages {
            let walls = stage.walls.iter().copied();
            self.stage_walls
                .extend(walls.chain(std::iter::repeat(Nanos::ZERO)).take(count));
        }
    }
}
