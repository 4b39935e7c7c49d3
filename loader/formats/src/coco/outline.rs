//! Segmentation of an annotation, drawn like pycocotools' `annToMask`.

use loadscope_words::say;

use super::index::numbers;
use super::mask::{self, Mask, PointsLeft, Reason};
use crate::json::{Json, JsonError};

/// Outline of an object.
enum Outline {
    /// Polygons with the corners x, y, x, y …
    Polygons(Vec<Vec<f64>>),
    /// Run lengths in pixels.
    Runs { counts: Vec<u64>, size: [u64; 2] },
}

/// Draws the segmentation in `text`.
///
/// # Errors
/// If the text is invalid or does not fit the image.
pub(super) fn draw(text: &[u8], mask: &mut Mask, left: &mut PointsLeft) -> Result<(), Reason> {
    match read(text)? {
        Outline::Polygons(polygons) => {
            let finite = polygons.iter().flatten().all(|corner| corner.is_finite());
            if !finite {
                return Err(say!("a polygon has a coordinate that is NaN or infinite").to_owned());
            }
            // pycocotools checks only the first polygon.
            if (1..=4).contains(&polygons.first().map_or(0, Vec::len)) {
                return Err(say!("its first polygon has fewer than three points").to_owned());
            }
            (polygons.iter()).try_for_each(|polygon| mask.draw(polygon, left))
        }
        Outline::Runs { counts, size } => {
            let [h, w] = size;
            if size != [mask.height as u64, mask.width as u64] {
                return Err(say!(
                    "a mask has {w}×{h} pixels, but its image has {}×{}",
                    mask.width,
                    mask.height
                ));
            }
            mask.draw_runs(counts)
        }
    }
}

/// Returns true for a segmentation without points: `[]` or `[[]]`.
pub(super) fn is_empty(text: &[u8]) -> bool {
    let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    let short: Vec<u8> = bytes.take(5).copied().collect();
    matches!(short.as_slice(), b"[]" | b"[[]]")
}

fn read(text: &[u8]) -> Result<Outline, Reason> {
    let of = |json: &mut Json<'_>| match json.peek() {
        Some(b'[') => polygons(json),
        Some(b'{') => runs(json),
        _ => Ok(None),
    };
    let outline = Json::new(text).and_then(|mut json| of(&mut json));
    match outline {
        Ok(Some(Ok(outline))) => Ok(outline),
        Ok(Some(Err(reason))) => Err(reason),
        Ok(None) | Err(_) => Err(say!(
            "a segmentation must be polygons, [[x, y, …], …], or RLE, {{\"counts\": …, \"size\": [height, width]}}"
        )
        .to_owned()),
    }
}

type Found = Result<Option<Result<Outline, Reason>>, JsonError>;

fn polygons(json: &mut Json<'_>) -> Found {
    let mut all = Some(Vec::new());
    json.list(|json| {
        match (numbers(json)?, &mut all) {
            (Some(polygon), Some(all)) => all.push(polygon),
            _ => all = None,
        }
        Ok::<_, JsonError>(())
    })?;
    Ok(all.map(|all| Ok(Outline::Polygons(all))))
}

fn runs(json: &mut Json<'_>) -> Found {
    let (mut counts, mut size) = (None, None);
    json.object(|json, key| {
        match (&*key, json.peek()) {
            ("counts", Some(b'"')) => counts = Some(mask::runs(json.string()?.as_bytes())),
            ("counts", _) => counts = numbers(json)?.and_then(|all| whole(&all)).map(Ok),
            ("size", _) => size = numbers(json)?.and_then(|all| whole(&all)),
            _ => {
                json.skip()?;
            }
        }
        Ok::<_, JsonError>(())
    })?;
    let size = size.and_then(|size: Vec<u64>| <[u64; 2]>::try_from(size).ok());
    Ok(counts
        .zip(size)
        .map(|(counts, size)| counts.map(|counts| Outline::Runs { counts, size })))
}

/// Converts numbers to non-negative integers. Returns `None` if one is negative or has a fraction.
fn whole(numbers: &[f64]) -> Option<Vec<u64>> {
    let whole = |number: &f64| {
        let is_whole = number.fract() == 0.0 && (0.0..9e15).contains(number);
        is_whole.then_some(*number as u64)
    };
    numbers.iter().map(whole).collect()
}
