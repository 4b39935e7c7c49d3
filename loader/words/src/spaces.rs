//! Spaces between Chinese characters and inserted values.

/// Border between a text and an inserted value.
const JOINT: char = '\u{1}';

/// Replaces each joint between a Chinese character and a letter or digit with a space, and removes the others.
/// Inserted values stay unchanged, because they may be file names.
pub fn spaced(text: String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_joint = false;
    for c in text.chars() {
        if c == JOINT {
            is_joint = true;
            continue;
        }
        if std::mem::take(&mut is_joint)
            && out.chars().next_back().is_some_and(|last| differ(last, c))
        {
            out.push(' ');
        }
        out.push(c);
    }
    out
}

/// Returns true for a Chinese character next to a letter or a digit.
fn differ(a: char, b: char) -> bool {
    let latin = |c: char| c.is_ascii_alphanumeric() || c == '%';
    let chinese = |c: char| matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}');
    (latin(a) && chinese(b)) || (chinese(a) && latin(b))
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn joints_become_spaces_between_chinese_and_other_text() {
        for (text, expected) in [
            (
                "\u{1}工作进程 2\u{1}中的\u{1}样本 5\u{1}",
                "工作进程 2 中的样本 5",
            ),
            ("等待\u{1}3 s\u{1}，", "等待 3 s，"),
            ("占\u{1}70\u{2009}%\u{1}的时间", "占 70\u{2009}% 的时间"),
            ("第 \u{1}3\u{1} 轮", "第 3 轮"),
            ("打开\u{1}图片2张.jsonl\u{1}", "打开图片2张.jsonl"),
            ("a\u{1}\u{1}\u{1}b", "ab"),
        ] {
            assert_eq!(spaced(text.to_owned()), expected);
        }
    }
}
