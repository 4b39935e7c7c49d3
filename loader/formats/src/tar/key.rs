//! Split of a file name into the key of its sample and the name of its field.

/// Splits a file name into key and field like `webdataset.tariterators.base_plus_ext`: at the first dot after the last slash. Returns
/// `None` if there is no such dot, or nothing before it.
pub fn base_plus_ext(name: &str) -> Option<(&str, &str)> {
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let dot = last + name.get(last..)?.find('.')?;
    let (base, extension) = (name.get(..dot)?, name.get(dot + 1..)?);
    // The part of the base after one of its slashes, or the whole base, must be non-empty and without a dot.
    let end = base
        .len()
        .checked_sub(base.chars().next_back()?.len_utf8())?;
    let line = base.find('\n').unwrap_or(end).min(end);
    let begin = base.get(..line)?.rfind('/').map_or(0, |slash| slash + 1);
    if base.get(begin..)?.contains('.') {
        return None;
    }
    Some((base, extension))
}

/// Returns true for a name that webdataset skips: metadata between double underscores.
pub(super) fn is_meta(name: &str) -> bool {
    let (first, is_whole) = match name.split_once('/') {
        Some((first, _)) => (first, false),
        None => (name, true),
    };
    first.starts_with("__") && first.ends_with("__") && (is_whole || first.len() >= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of Python's `re` with `^((?:.*/|)[^.]+)[.]([^/]*)$`.
    #[test]
    fn member_names_split_like_in_webdataset() {
        for (name, expected) in [
            ("a/b/0001.jpg", Some(("a/b/0001", "jpg"))),
            ("0001.seg.PNG", Some(("0001", "seg.PNG"))),
            ("a.b/c.d", Some(("a.b/c", "d"))),
            ("a.b/c", None),
            ("nothing", None),
            ("", None),
            (".hidden", None),
            ("a/.hidden.jpg", Some(("a/", "hidden.jpg"))),
            ("a.x/.hidden.jpg", None),
            ("c/a.x/.hidden", None),
            ("a.b//.x", Some(("a.b//", "x"))),
            ("/.x", Some(("/", "x"))),
            ("./0001.cls", Some(("./0001", "cls"))),
            ("a.", Some(("a", ""))),
        ] {
            assert_eq!(base_plus_ext(name), expected, "{name}");
        }
        let meta = [
            "__index__",
            "__",
            "___",
            "__a__/b.jpg",
            "__a__.jpg",
            "a/__b__",
            "____/x",
        ];
        assert_eq!(
            meta.map(is_meta),
            [true, true, true, true, false, false, true]
        );
    }
}
