//! The window in a browser, as one page. `cargo xtask web` builds the page. If it exists, the program contains it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use loadscope_words::say;
use serde::Serialize;
use thiserror::Error;

/// The page with its placeholders.
const PAGE: Option<&str> = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Error of a build without the page.
#[derive(Debug, Error)]
#[error("{}", say!("this build does not contain the browser page. Run `cargo xtask setup --web` and `cargo xtask web`, then build again. The Python wheel contains the page."))]
pub struct NoPage;

/// True if this build contains the page.
pub const HAS_PAGE: bool = PAGE.is_some();

/// Description of the content of a page, read by its script.
#[derive(Clone, Debug, Default, Serialize)]
pub struct About<'a> {
    /// Name of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// URL of the recording, relative to the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<&'a str>,
    /// Name of the recording to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<&'a str>,
    /// URL of the recording to compare with, relative to the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_url: Option<&'a str>,
    /// URL of the WebSocket with the events of a running program, relative to the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<&'a str>,
}

/// Data inside a page. Each part may be empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Content<'a> {
    /// Report as text, for browsers without WebGL or JavaScript.
    pub report: &'a str,
    /// Packed recording.
    pub recording: &'a [u8],
    /// Packed recording to compare with.
    pub other: &'a [u8],
}

/// Fills in the page: the recordings and names in base64, the report without markup.
///
/// # Errors
/// If this build has no page.
pub fn page(about: &About<'_>, content: Content<'_>) -> Result<String, NoPage> {
    filled(PAGE.ok_or(NoPage)?, about, content)
}

fn filled(page: &str, about: &About<'_>, content: Content<'_>) -> Result<String, NoPage> {
    let told = serde_json::to_vec(about).unwrap_or_default();
    // The server listens on this host. A forwarded port can have any number.
    let connect = match about.live {
        Some(_) => " ws://127.0.0.1:* ws://localhost:*",
        None => "",
    };
    let packed = content.recording.len() + content.other.len();
    let mut out = String::with_capacity(page.len() + packed / 3 * 4 + told.len() * 2 + 64);
    let mut rest = page;
    // The placeholders are in the order of the template.
    for place in ["@CONNECT@", "@REPORT@", "@ABOUT@", "@RECORDING@", "@OTHER@"] {
        let (before, after) = rest.split_once(place).ok_or(NoPage)?;
        out.push_str(before);
        match place {
            "@CONNECT@" => out.push_str(connect),
            "@REPORT@" => out.push_str(&escaped(content.report)),
            "@ABOUT@" => STANDARD.encode_string(&told, &mut out),
            "@OTHER@" => STANDARD.encode_string(content.other, &mut out),
            _ => STANDARD.encode_string(content.recording, &mut out),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// Escapes markup and non-ASCII characters, because a server may declare another encoding than the page has.
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

    const TEMPLATE: &str = "<meta a'@CONNECT@'><pre>@REPORT@</pre><script>@ABOUT@</script><b>@RECORDING@</b><i>@OTHER@</i>";

    #[test]
    fn a_hostile_recording_and_name_are_not_markup() {
        let hostile = "</script><script>alert(1)</script>@RECORDING@";
        let about = About {
            name: Some(hostile),
            ..About::default()
        };
        let content = Content {
            recording: hostile.as_bytes(),
            other: b"other",
            ..Content::default()
        };
        let page = filled(TEMPLATE, &about, content).expect("a page");
        assert_eq!(page.matches("<script").count(), 1);
        assert!(!page.contains("alert") && !page.contains('@'), "{page}");
        let (encoded, other) = (STANDARD.encode(hostile), STANDARD.encode("other"));
        assert!(page.contains(&format!("<b>{encoded}</b><i>{other}</i>")));
        assert!(page.starts_with("<meta a''>"));
    }

    #[test]
    fn a_report_is_text_without_markup() {
        let hostile = "2\u{2009}% <b>&amp;</pre><script>alert(1)</script> @RECORDING@";
        let content = Content {
            report: hostile,
            ..Content::default()
        };
        let page = filled(TEMPLATE, &About::default(), content).expect("a page");
        assert_eq!(page.matches("<script").count(), 1);
        assert!(
            page.contains("<pre>2&#8201;% &#60;b&#62;&#38;amp;"),
            "{page}"
        );
        assert!(page.is_ascii() && !page.contains('@'), "{page}");
    }

    #[test]
    fn a_live_page_may_connect_to_its_server() {
        let about = About {
            live: Some("live"),
            ..About::default()
        };
        let page = filled(TEMPLATE, &about, Content::default()).expect("a page");
        assert!(page.contains("ws://127.0.0.1:*"), "{page}");
    }
}
