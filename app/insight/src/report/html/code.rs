//! Lines of code as tables.

use loadscope_words::say;
use maud::{Markup, html};

use super::style::prose;
use crate::report::{Report, code};

/// Returns tables of the lines of code that take the time. The markup is empty without sampled stacks.
pub fn code(report: &Report) -> Markup {
    let sections = code::sections(&report.code);
    html! {
        @if !sections.is_empty() { h2 { (say!("Lines of code")) } }
        @for section in &sections {
            div.wide {
                table {
                    tr { th { (section.heading) } th.n { (say!("Share")) } th { (say!("Function")) } }
                    @for row in &section.rows {
                        tr {
                            td.name { (prose(&row.place)) }
                            td.n { (code::share(row.share)) }
                            td.weak { (prose(&row.function)) }
                        }
                    }
                }
            }
        }
    }
}
