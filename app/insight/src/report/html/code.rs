//! Phases of the training step and lines of code, as tables.

use loadscope_words::say;
use maud::{Markup, html};

use super::style::prose;
use crate::report::{Report, code, phases};

/// Returns a table of the phases of the training step. The markup is empty without them.
pub fn step_phases(report: &Report) -> Markup {
    let survey = &report.survey;
    html! {
        @if let Some(known) = &report.phases {
            h2 { (phases::heading(known, survey)) }
            div.wide {
                table {
                    tr { th { (say!("Phase")) } th.n { (say!("Time per step")) } th.n { (say!("Share")) } }
                    @for row in phases::rows(known, survey) {
                        tr {
                            td.name { (row.phase.label()) }
                            td.n { (row.format_time(survey)) }
                            td.n { (code::share(row.share)) }
                        }
                    }
                }
            }
            @if let Some(remark) = phases::remark(survey.run) { p.weak { (remark) } }
        }
    }
}

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
