//! Paths of leaves inside a batch, as in Python: `[1]["boxes"][0].x`.

/// Maximum number of segments. The rest of a deeper path is one segment.
const DEEPEST: usize = 32;

/// Splits `["boxes"][1]` into `["boxes"]` and `[1]`. Text that is not such a path is one segment.
pub fn segments(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let end = if parts.len() < DEEPEST {
            end_of_first(rest)
        } else {
            rest.len()
        };
        let (first, others) = rest.split_at(end);
        parts.push(first);
        rest = others;
    }
    parts
}

fn end_of_first(path: &str) -> usize {
    let bytes = path.as_bytes();
    if bytes.starts_with(b"[") {
        let (mut quoted, mut escaped) = (false, false);
        for (at, byte) in bytes.iter().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b']' if !quoted => return at + 1,
                _ => {}
            }
        }
        return bytes.len();
    }
    let begins = |(at, byte): (usize, &u8)| (at > 0 && matches!(byte, b'[' | b'.')).then_some(at);
    bytes
        .iter()
        .enumerate()
        .find_map(begins)
        .unwrap_or(bytes.len())
}

/// The key of a leaf, and its sample if the batch consists of lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slot<'a> {
    /// `boxes` for `[1][3]["boxes"]` and for `["boxes"][3]`.
    pub key: Option<&'a str>,
    /// 3 for both.
    pub sample: Option<usize>,
    /// Number of segments of the path.
    pub depth: usize,
}

impl<'a> Slot<'a> {
    /// Parses a path.
    pub fn of(path: &'a str) -> Self {
        let parts = segments(path);
        let keys: Vec<Option<&str>> = parts.iter().map(|part| key(part)).collect();
        let numbers: Vec<Option<usize>> = parts.iter().map(|part| number(part)).collect();
        let at = keys.iter().rposition(Option::is_some);
        let after = at.and_then(|at| numbers.get(at + 1).copied().flatten());
        let before = |end: usize| {
            // `[1]` alone is a field of a tuple, and `[1][3]` is its sample 3.
            let sample = end.checked_sub(1).filter(|k| *k > 0);
            sample.and_then(|k| numbers.get(k).copied().flatten())
        };
        Self {
            key: at.and_then(|at| keys.get(at).copied().flatten()),
            sample: after.or_else(|| before(at.unwrap_or(parts.len()))),
            depth: parts.len(),
        }
    }

    /// Returns true if the key is one of these names.
    pub fn is(&self, names: &[&str]) -> bool {
        self.key.is_some_and(|key| names.contains(&key))
    }
}

/// Returns `boxes` for `["boxes"]` and `.boxes`.
fn key(part: &str) -> Option<&str> {
    let quoted = part.strip_prefix("[\"").and_then(|s| s.strip_suffix("\"]"));
    quoted.or_else(|| part.strip_prefix('.'))
}

fn number(part: &str) -> Option<usize> {
    part.strip_prefix('[')?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_split_at_their_keys() {
        assert_eq!(
            segments("[1][\"a]b\\\"c\"].x[0]"),
            ["[1]", "[\"a]b\\\"c\"]", ".x", "[0]"]
        );
        assert_eq!(segments(""), Vec::<&str>::new());
        assert_eq!(segments("[never closed"), ["[never closed"]);
        assert_eq!(segments("plain"), ["plain"]);
    }

    #[test]
    fn key_and_sample_of_a_leaf_come_from_its_path() {
        let slot = |path: &'static str| {
            let slot = Slot::of(path);
            (slot.key, slot.sample)
        };
        assert_eq!(slot("[1][3][\"boxes\"]"), (Some("boxes"), Some(3)));
        assert_eq!(slot("[\"boxes\"][3]"), (Some("boxes"), Some(3)));
        assert_eq!(slot("[0][3]"), (None, Some(3)));
        assert_eq!(slot("[1][\"boxes\"]"), (Some("boxes"), None));
        assert_eq!(slot("[0]"), (None, None));
        assert_eq!(slot("[\"input_ids\"]"), (Some("input_ids"), None));
        assert_eq!(slot(".targets[2].boxes"), (Some("boxes"), Some(2)));
        assert_eq!(slot(""), (None, None));
    }

    proptest! {
        #[test]
        fn any_path_can_be_read(path in "[\\[\\].\"\\\\a0é]{0,24}") {
            prop_assert_eq!(segments(&path).concat(), path.clone());
            Slot::of(&path);
        }
    }
}
