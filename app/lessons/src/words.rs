//! Length of texts.

/// Maximum number of words in a lesson in one language: seven minutes at a slow pace, including clicks.
pub const MAX_LESSON_WORDS: usize = 450;
/// Maximum number of words in the text of a look.
pub const MAX_TEXT_WORDS: usize = 45;
/// Reading three Chinese characters takes about as long as reading two English words.
const CHARACTERS: usize = 3;
const WORDS: usize = 2;

/// Counts words. Three Chinese characters count as two words. Names and code in Chinese text count as in English.
pub fn words(text: &str) -> usize {
    let (mut characters, mut latin, mut inside) = (0, 0, false);
    for c in text.chars() {
        if is_chinese(c) {
            characters += 1;
            inside = false;
        } else if c.is_alphanumeric() {
            latin += usize::from(!inside);
            inside = true;
        } else if c.is_whitespace() || is_chinese_sign(c) {
            // `prefetch_factor=2` and `don't` are one word.
            inside = false;
        }
    }
    latin + (characters * WORDS).div_ceil(CHARACTERS)
}

/// Returns true for a Chinese character, false for punctuation.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

fn is_chinese_sign(c: char) -> bool {
    matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '“' | '”' | '—' | '…')
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_of_both_languages_are_counted() {
        assert_eq!(words("Batch 4 isn't there yet: wait."), 6);
        assert_eq!(words("`prefetch_factor=2` doubles it"), 3);
        // Six characters are four words.
        assert_eq!(words("数据加载器的，DataLoader"), 5);
    }
}
