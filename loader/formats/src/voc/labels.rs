//! The class of a picture that has several objects.

use super::Voc;
use super::annotation::Object;

impl Voc {
    /// The class of the largest object of each picture; 0, the background, of one without any, and of one whose annotation is broken:
    /// what is broken is reported when it is loaded. `None`: there are no annotations.
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

/// The first of the largest boxes.
fn largest(objects: &[Object]) -> Option<&Object> {
    let size = |object: &Object| {
        let [x0, y0, x1, y1] = object.corners;
        (x1 - x0) * (y1 - y0)
    };
    // Of equal ones `max_by` would take the last.
    objects
        .iter()
        .rev()
        .max_by(|a, b| size(a).total_cmp(&size(b)))
}
