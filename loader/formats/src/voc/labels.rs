//! Class of an image with several objects.

use super::Voc;
use super::annotation::Object;

impl Voc {
    /// Returns the class of the largest object for each image, or 0 (background) without objects. A damaged annotation also has 0,
    /// and is reported when the sample is loaded. Returns `None` without annotations.
    pub(super) fn classes_of_pictures(&self) -> Option<Vec<u32>> {
        self.has_annotations.then(|| {
            let class = |name: &String| match self.annotation(name) {
                Ok((annotation, _)) => largest(&annotation.objects)
                    .and_then(|object| self.labels.get(&object.name))
                    .and_then(|label| u32::try_from(*label).ok())
                    .unwrap_or_default(),
                Err(_) => 0,
            };
            self.names.iter().map(class).collect()
        })
    }
}

/// Returns the first object among those with the largest box.
fn largest(objects: &[Object]) -> Option<&Object> {
    let size = |object: &Object| {
        let [x0, y0, x1, y1] = object.corners;
        (x1 - x0) * (y1 - y0)
    };
    // The iteration is reversed because `max_by` returns the last of equal items.
    objects
        .iter()
        .rev()
        .max_by(|a, b| size(a).total_cmp(&size(b)))
}
