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
        let class = |at: &usize| match largest(self.notes_of(*at)) {
            Some(note) => u32::try_from(note.category.found()?).ok(),
            None => Some(0),
        };
        self.by_image.order.iter().map(class).collect()
    }
}

/// The first of the largest boxes.
fn largest<'a>(notes: impl DoubleEndedIterator<Item = &'a Note>) -> Option<&'a Note> {
    let size =
        |note: &Note| (note.bbox.found()).map_or(0.0, |[_, _, width, height]| width * height);
    // Of equal ones `max_by` would take the last.
    notes.rev().max_by(|a, b| size(a).total_cmp(&size(b)))
}
