//! The class of a picture that has several annotations.

use super::index::Note;
use super::{Coco, Task};

impl Coco {
    /// The class of the annotation with the largest box of each picture; 0, which COCO gives to none, of one without any. `None`:
    /// captions have no classes, or a class has a number that is none.
    pub(super) fn classes_of_pictures(&self) -> Option<Vec<u32>> {
        if self.task == Task::Captions {
            return None;
        }
        let class = |at: &usize| {
            let image = self.index.images.get(*at)?;
            let notes = self
                .of
                .get(&image.id)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let notes = notes
                .iter()
                .filter_map(|at| self.index.notes.get(*at as usize));
            match largest(notes) {
                Some(note) => u32::try_from(note.category).ok(),
                None => Some(0),
            }
        };
        self.order.iter().map(class).collect()
    }
}

/// The first of the largest boxes.
fn largest<'a>(notes: impl DoubleEndedIterator<Item = &'a Note>) -> Option<&'a Note> {
    let size = |note: &Note| {
        note.bbox
            .map_or(0.0, |[_, _, width, height]| width * height)
    };
    // Of equal ones `max_by` would take the last.
    notes.rev().max_by(|a, b| size(a).total_cmp(&size(b)))
}
