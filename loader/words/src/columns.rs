//! Aligned columns in a terminal, in which a Chinese character takes two cells.

/// Returns the number of terminal cells of a text.
pub fn display_width(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Returns true for Chinese characters and punctuation.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}')
}

/// Pads a text with spaces at the end to at least `width` cells.
pub fn pad_end(text: &str, width: usize) -> String {
    format!("{text}{:1$}", "", width.saturating_sub(display_width(text)))
}

/// Pads a text with spaces at the start to at least `width` cells.
pub fn pad_start(text: &str, width: usize) -> String {
    format!("{:1$}{text}", "", width.saturating_sub(display_width(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_same_width_in_all_languages() {
        for text in ["Fetching", "读取", "锁页，CPU", ""] {
            assert_eq!(display_width(&pad_end(text, 12)), 12);
            assert_eq!(display_width(&pad_start(text, 12)), 12);
            assert_eq!(pad_end(text, 2).trim_end(), text);
        }
        assert_eq!(pad_end("wait", 6), format!("{:<6}", "wait"));
        assert_eq!(pad_start("wait", 6), format!("{:>6}", "wait"));
        assert_eq!(display_width("读取 4"), 6);
    }
}
