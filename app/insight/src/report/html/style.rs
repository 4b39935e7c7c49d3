//! Styles of the HTML page, and functions for its text.

use loadscope_diagnose::{Cause, Severity};
use loadscope_trace::Activity;
use maud::{Markup, html};

use crate::palette::Colors;

/// Nominal width of images, px. Images scale with the page.
pub(super) const WIDTH: f64 = 960.0;

/// Returns the CSS class for the color of a cause.
pub(super) fn class(cause: Cause) -> &'static str {
    match cause.activity() {
        Some(Activity::Fetching) => "fetch",
        Some(Activity::Collating) => "collate",
        Some(Activity::Pinning) => "pin",
        Some(Activity::Held) => "held",
        Some(_) => "wait",
        None => "weakest",
    }
}

/// Returns the CSS class of the title for a severity.
pub(super) fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

/// Returns the style sheet, with the window's light and dark colors as CSS variables.
pub(super) fn style() -> String {
    let variables = |p: &Colors| {
        let colors = [
            ("panel", p.panel),
            ("canvas", p.canvas),
            ("line", p.line),
            ("text", p.text),
            ("weak", p.weak),
            ("strong", p.strong),
            ("wait", p.wait),
            ("fetch", p.fetch),
            ("collate", p.collate),
            ("pin", p.pin),
            ("held", p.held),
            ("step", p.step),
            ("stall", p.stall),
        ];
        let hex = |[r, g, b]: [u8; 3]| format!("#{r:02x}{g:02x}{b:02x}");
        let text = colors.map(|(name, color)| format!("--{name}:{};", hex(color)));
        text.concat()
    };
    let (light, dark) = (variables(&Colors::LIGHT), variables(&Colors::DARK));
    format!(
        ":root{{color-scheme:light dark;{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         body{{margin:0;background:var(--canvas);color:var(--text);font:14px/1.5 system-ui,sans-serif}}\
         main{{max-width:{WIDTH}px;margin:0 auto;padding:24px 16px 48px}}\
         h1{{font-size:20px;color:var(--strong);margin:0 0 8px;padding-left:12px;border-left:4px solid var(--step)}}\
         h1.warning,h1.critical{{border-color:var(--stall)}}\
         h2{{font-size:14px;color:var(--strong);margin:32px 0 8px}}.lead{{margin:0 0 4px;padding-left:16px}}\
         svg{{width:100%;display:block}}svg.dot{{display:inline-block;width:10px;height:10px;margin-right:8px}}\
         .axis{{display:flex;justify-content:space-between;margin:4px 0 8px;font:11px ui-monospace,monospace;color:var(--weak)}}\
         table{{border-collapse:collapse;margin-top:12px;width:100%}}\
         th{{text-align:left;font-weight:600;color:var(--weak)}}\
         td,th{{padding:4px 16px 4px 0;border-bottom:1px solid var(--line);vertical-align:top}}\
         .wide{{overflow-x:auto}}.name{{white-space:nowrap}}.bar{{width:30%;min-width:120px;padding-right:0}}td.bar svg{{height:12px;margin-top:4px}}\
         @media(max-width:640px){{.bar{{display:none}}}}\
         .n{{text-align:right}}td.n,.m,pre{{font-family:ui-monospace,monospace;font-size:13px;white-space:nowrap}}\
         pre{{background:var(--panel);padding:12px;overflow-x:auto;border-radius:4px}}\
         li{{margin-bottom:12px}}.weak{{color:var(--weak)}}b{{color:var(--strong)}}\
         .critical:not(h1){{color:var(--stall)}}.ground{{fill:var(--panel)}}.weakest{{fill:var(--line)}}\
         .wait{{fill:var(--wait)}}.fetch{{fill:var(--fetch)}}.collate{{fill:var(--collate)}}.pin{{fill:var(--pin)}}\
         .held{{fill:var(--held)}}.step{{fill:var(--step)}}.stall{{fill:var(--stall)}}"
    )
}

/// Replaces thin spaces with narrow no-break spaces, to keep numbers and units on one line.
pub(super) fn prose(text: &str) -> String {
    text.replace('\u{2009}', "\u{202f}")
}

/// Returns a colored square for a legend.
pub(super) fn dot(class: &str) -> Markup {
    html! {
        svg.dot viewBox="0 0 10 10" aria-hidden="true" {
            rect class=(class) width="10" height="10" rx="2" {}
        }
    }
}
