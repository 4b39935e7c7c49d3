//! Class of a picture with several annotations.

use super::index::Note;
use super::{Coco, Task};

impl Coco {
    /// Returns the class of the annotation with the largest box for each picture. A picture without annotations has 0, which COCO does not
    /// use. Returns `None` for captions, or if a class has an invalid number.
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

/// Returns the first annotation among those with the largest box.
fn largest<'a>(notes: impl DoubleEndedIterator<Item = &'a Note>) -> Option<&'a Note> {
    let size =
        |note: &Note| (note.bbox.found()).map_or(0.0, |[_, _, width, height]| width * height);
    // The iteration is reversed because `max_by` returns the last of equal items.
    notes.rev().max_by(|a, b| size(a).total_cmp(&size(b)))
}
