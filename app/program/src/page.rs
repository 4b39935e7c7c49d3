//! The window in a browser: one page. `cargo xtask web` makes it, and the program includes it where it is there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadscope_words::say;
use serde::Serialize;
use thiserror::Error;

/// The page, with what is left open in it.
const PAGE: Option<&str> = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Why there is no page.
#[derive(Debug, Error)]
#[error("{}", say!("this build does not contain the browser page. Run `cargo xtask setup --web` and `cargo xtask web`, then build again. The Python wheel contains the page."))]
pub struct NoPage;

/// True if this build contains the page.
pub const HAS_PAGE: bool = PAGE.is_some();

/// What a page shows at first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct About<'a> {
    /// Name of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Where the recording is fetched from, beside the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
    /// Where the recording of a program that runs comes from, beside the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<&'a str>,
}

/// The page with a recording in it, and its report as text for browsers without WebGL or JavaScript. Both may be empty. They are
/// data: the page contains the recording and the name in base64, the report without markup.
///
/// # Errors
/// If this build has no page.
pub fn page(about: &About<'_>, report: &str, recording: &[u8]) -> Result<String, NoPage> {
    filled(PAGE.ok_or(NoPage)?, about, report, recording)
}

fn filled(page: &str, about: &About<'_>, report: &str, recording: &[u8]) -> Result<String, NoPage> {
    let told = serde_json::to_vec(about).unwrap_or_default();
    // A server of ours listens on this host, whatever the port is that leads to it.
    let connect = match about.live {
        Some(_) => " ws://127.0.0.1:* ws://localhost:*",
        None => "",
    };
    let mut out = String::with_capacity(page.len() + recording.len() / 3 * 4 + told.len() * 2 + 64);
    let mut rest = page;
    // In the order in which they stand in the page.
    for place in ["@CONNECT@", "@REPORT@", "@ABOUT@", "@RECORDING@"] {
        let (before, after) = rest.split_once(place).ok_or(NoPage)?;
        out.push_str(before);
        match place {
            "@CONNECT@" => out.push_str(connect),
            "@REPORT@" => out.push_str(&escaped(report)),
            "@ABOUT@" => STANDARD.encode_string(&told, &mut out),
            _ => STANDARD.encode_string(recording, &mut out),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Text without markup, in ASCII: a server may name another encoding than that of the page.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | ' '..='~' if !"&<>@".contains(letter) => out.push(letter),
            _ => out.push_str(&format!("&#{};", u32::from(letter))),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE: &str =
        "<meta a'@CONNECT@'><pre>@REPORT@</pre><script>@ABOUT@</script><b>@RECORDING@</b>";

    #[test]
    fn a_recording_and_its_name_are_data() {
        let hostile = "</script><script>alert(1)</script>@RECORDING@";
        let about = About {
            name: Some(hostile),
            ..About::default()
        };
        let page = filled(TEMPLATE, &about, "", hostile.as_bytes()).expect("a page");
        assert_eq!(page.matches("<script").count(), 1);
        assert!(!page.contains("alert") && !page.contains('@'), "{page}");
        let encoded = STANDARD.encode(hostile);
        assert!(page.contains(&format!("<b>{encoded}</b>")));
        assert!(page.starts_with("<meta a''>"));
    }

    #[test]
    fn a_report_is_text_without_markup() {
        let hostile = "2\u{2009}% <b>&amp;</pre><script>alert(1)</script> @RECORDING@";
        let page = filled(TEMPLATE, &About::default(), hostile, b"").expect("a page");
        assert_eq!(page.matches("<script").count(), 1);
        assert!(
            page.contains("<pre>2&#8201;% &#60;b&#62;&#38;amp;"),
            "{page}"
        );
        assert!(page.is_ascii() && !page.contains('@'), "{page}");
    }

    #[test]
    fn only_a_live_page_may_talk_to_a_server() {
        let about = About {
            live: Some("live"),
            ..About::default()
        };
        let page = filled(TEMPLATE, &about, "", b"").expect("a page");
        assert!(page.contains("ws://127.0.0.1:*"), "{page}");
    }
}
