//! Results of rules as a JUnit test report.

use maud::{PreEscaped, html};

use crate::format::printable;

/// A rule, and why it is broken; `None` if it is kept.
pub struct Checked {
    /// As it was given: `wait>10%`.
    pub rule: String,
    /// A sentence.
    pub broken: Option<String>,
}

/// A test suite `name` with a test for each rule; without rules there is one, which passes. `text` is what people read beside it.
pub fn junit(name: &str, seconds: f64, rules: &[Checked], text: &str) -> String {
    let failures = rules.iter().filter(|rule| rule.broken.is_some()).count();
    let (tests, time) = (rules.len().max(1), format!("{seconds:.3}"));
    let suite = html! {
        testsuites tests=(tests) failures=(failures) {
            testsuite name=(sound(name)) tests=(tests) failures=(failures) errors="0" skipped="0" time=(time) {
                @for rule in rules {
                    testcase classname="loadscope" name=(sound(&rule.rule)) {
                        @if let Some(why) = &rule.broken {
                            failure message=(sound(why)) { (sound(why)) }
                        }
                    }
                }
                @if rules.is_empty() {
                    testcase classname="loadscope" name="recorded" {}
                }
                system-out { (sound(text)) }
            }
        }
    };
    let head = PreEscaped("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    html! { (head) (suite) }.into_string() + "\n"
}

/// XML has no control characters, not even spelled out as entities.
fn sound(text: &str) -> String {
    let is_known =
        |c: char| matches!(c, '\n' | '\t') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
    printable(text).chars().filter(|c| is_known(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_a_test() {
        let rules = [
            Checked {
                rule: "wait>10%".to_owned(),
                broken: Some("wait>10%: it is \"42 %\" & <more>\u{1b}".to_owned()),
            },
            Checked {
                rule: "errors>0".to_owned(),
                broken: None,
            },
        ];
        let text = junit("run.jsonl", 1.5, &rules, "a verdict");
        assert!(
            text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"2\" failures=\"1\">"),
            "{text}"
        );
        let failure = "<testcase classname=\"loadscope\" name=\"wait&gt;10%\"><failure message=\"wait&gt;10%: it is \
                       &quot;42 %&quot; &amp; &lt;more&gt;";
        assert!(text.contains(failure), "{text}");
        assert!(text.contains("name=\"errors&gt;0\"></testcase>"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(
            text.contains("<system-out>a verdict</system-out>"),
            "{text}"
        );
        assert!(junit("run", 0.0, &[], "").contains("tests=\"1\" failures=\"0\""));
    }
}
