//! Texts in columns of a terminal, where a Chinese character takes two places.

/// How many places of a terminal a text takes.
pub fn places(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Chinese characters and their signs.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}')
}

/// With spaces behind it, so that it takes at least `width` places.
pub fn left(text: &str, width: usize) -> String {
    format!("{text}{:1$}", "", width.saturating_sub(places(text)))
}

/// With spaces before it, so that it takes at least `width` places.
pub fn right(text: &str, width: usize) -> String {
    format!("{:1$}{text}", "", width.saturating_sub(places(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_in_all_languages() {
        for text in ["Fetching", "读取", "锁页，CPU", ""] {
            assert_eq!(places(&left(text, 12)), 12);
            assert_eq!(places(&right(text, 12)), 12);
            assert_eq!(left(text, 2).trim_end(), text);
        }
        assert_eq!(left("wait", 6), format!("{:<6}", "wait"));
        assert_eq!(right("wait", 6), format!("{:>6}", "wait"));
        assert_eq!(places("读取 4"), 6);
    }
}
