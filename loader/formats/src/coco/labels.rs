//! Class of an image with several annotations.

use super::index::Annotation;
use super::{Coco, Task};

impl Coco {
    /// Returns the class of the annotation with the largest box for each image. An image without annotations has 0, which COCO does not
    /// use. Returns `None` for captions, or if a class has an invalid number.
    pub(super) fn classes_of_pictures(&self) -> Option<Vec<u32>> {
        if self.task == Task::Captions {
            return None;
        }
        let class = |at: &usize| match largest(self.annotations_of(*at)) {
            Some(annotation) => u32::try_from(annotation.category.found()?).ok(),
            None => Some(0),
        };
        self.by_image.order.iter().map(class).collect()
    }
}

/// Returns the first annotation among those with the largest box.
fn largest<'a>(
    annotations: impl DoubleEndedIterator<Item = &'a Annotation>,
) -> Option<&'a Annotation> {
    let size = |annotation: &Annotation| {
        (annotation.bbox.found()).map_or(0.0, |[_, _, width, height]| width * height)
    };
    // The iteration is reversed because `max_by` returns the last of equal items.
    annotations.rev().max_by(|a, b| size(a).total_cmp(&size(b)))
}
