//! JUnit report of the checked rules, for CI.

use maud::{PreEscaped, html};

use crate::format::printable;

/// A rule with its result.
pub struct RuleResult {
    /// The rule as the user entered it, as in `wait>10%`.
    pub rule: String,
    /// Message that explains the failure. `None` if the rule passed.
    pub broken: Option<String>,
}

/// Returns the JUnit XML of a test suite `name` with one test case per rule.
///
/// Without rules it has one test case, which passes. `seconds` is the duration of the suite, `text` the content of `system-out`.
pub fn junit(name: &str, seconds: f64, rules: &[RuleResult], text: &str) -> String {
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

/// Removes the characters that XML 1.0 forbids even as entities, such as control characters.
fn sound(text: &str) -> String {
    let is_known =
        |c: char| matches!(c, '\n' | '\t') || c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}');
    printable(text).chars().filter(|c| is_known(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_is_a_junit_testcase() {
        let rules = [
            RuleResult {
                rule: "wait>10%".to_owned(),
                broken: Some("wait>10%: it is \"42 %\" & <more>\u{1b}".to_owned()),
            },
            RuleResult {
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
