//! Warnings about contradictions in annotations that pycocotools does not report.

use std::collections::HashMap;
use std::path::Path;

use super::index::{Annotation, ByImage, Id, Index, Value};
use super::outline;
use crate::buffer::Buffer;

/// Largest distance of a box beyond its image without a warning, pixels. Annotation tools round.
const SLACK: f64 = 1.0;

/// Returns the warnings about a file.
pub(super) fn warnings(
    index: &Index,
    by_image: &ByImage,
    file: &Buffer,
    path: &Path,
) -> Vec<String> {
    let path = path.display();
    let mut warnings = Vec::new();
    if let Some((id, count)) = &by_image.same_images {
        warnings.push(format!(
            "{count} images in {path} have the id of an earlier image ({id}, for example). The last of them is loaded, as by pycocotools."
        ));
    }
    if let Some((id, count)) = &by_image.duplicate_ids {
        warnings.push(format!(
            "{count} annotations in {path} have the id of an earlier annotation ({id}, for example). The last of them replaces the others, \
             as in pycocotools."
        ));
    }
    if index
        .images
        .iter()
        .any(|image| matches!(image.id, Id::Text(_)))
    {
        warnings.push(format!(
            "Ids of images in {path} are strings. pycocotools takes a string for a list of characters, so torchvision cannot load them. \
             Write numbers."
        ));
    }
    warnings.extend(categories(index, &path));
    warnings.extend(values(index, file, &path));
    warnings
}

fn categories(index: &Index, path: &std::path::Display<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut names: HashMap<&Id, &str> = HashMap::new();
    for one in &index.categories {
        if let Some(before) = names.insert(&one.id, &one.name)
            && before != one.name
        {
            warnings.push(format!(
                "The category {} in {path} has two names, '{before}' and '{}'. The last is used.",
                one.id, one.name
            ));
        }
    }
    let unknown: Vec<i64> = (index
        .annotations
        .iter()
        .filter_map(|annotation| annotation.category.found()))
    .filter(|category| !names.contains_key(&Id::Int((*category).into())))
    .collect();
    if let Some(first) = unknown.first().filter(|_| !names.is_empty()) {
        warnings.push(format!(
            "{} of {} annotations in {path} have a category_id that its categories do not list ({first}, for example).",
            unknown.len(),
            index.annotations.len()
        ));
    }
    warnings
}

/// Returns one warning per kind of unusual value, with the number of its annotations.
fn values(index: &Index, file: &Buffer, path: &std::path::Display<'_>) -> Vec<String> {
    let all = index.annotations.len();
    let count = |of: &dyn Fn(&Annotation) -> bool| {
        index
            .annotations
            .iter()
            .filter(|annotation| of(annotation))
            .count()
    };
    let text = |annotation: &Annotation| {
        let part = annotation.segmentation.clone()?;
        file.get(part)
    };
    let beyond = |annotation: &Annotation| {
        let image = annotation
            .image
            .and_then(|at| index.images.get(at as usize));
        let size = image.and_then(|image| image.width.found().zip(image.height.found()));
        match (size, annotation.bbox) {
            (Some((width, height)), Value::Found([x, y, w, h])) => {
                x < -SLACK
                    || y < -SLACK
                    || x + w > f64::from(width) + SLACK
                    || y + h > f64::from(height) + SLACK
            }
            _ => false,
        }
    };
    let inverted = |annotation: &Annotation| matches!(annotation.bbox, Value::Found([_, _, w, h]) if w < 0.0 || h < 0.0);
    let not_a_number = |annotation: &Annotation| matches!(annotation.bbox, Value::Found(four) if four.iter().any(|number| !number.is_finite()));
    let crowd = |annotation: &Annotation| {
        let is_polygon = text(annotation).is_some_and(|text| text.starts_with(b"["));
        is_polygon && matches!(annotation.is_crowd, Value::Found(crowd) if crowd != 0)
    };
    let counted = [
        (
            count(&inverted),
            "have a bbox of negative width or height. It is x, y, width, height",
        ),
        (count(&not_a_number), "have a bbox with NaN or Infinity"),
        (
            count(&beyond),
            "have a bbox that is partly outside the image",
        ),
        (
            index.listed_areas,
            "have an area that is a list of one number. That number is loaded",
        ),
        (
            count(&|annotation| annotation.area == Value::Missing),
            "have no area. It is loaded as 0",
        ),
        (
            count(&|annotation| {
                text(annotation).is_none_or(outline::is_empty) && annotation.keypoints.is_none()
            }),
            "have no segmentation. Their masks are empty",
        ),
        (
            count(&crowd),
            "have iscrowd 1 and polygons, but crowds have RLE",
        ),
    ];
    (counted.into_iter().filter(|(count, _)| *count > 0))
        .map(|(count, text)| format!("{count} of {all} annotations in {path} {text}."))
        .collect()
}
