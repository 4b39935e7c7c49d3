use loadscope_trace::RunOptions;

use super::*;
use crate::Datasets;
use crate::simulated;

#[test]
fn the_page_is_self_contained_and_escapes_its_texts() {
    let mut run = simulated(&RunOptions {
        dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        step_ms: 20.0,
        ..RunOptions::default()
    });
    run.info.dataset = "<script>alert('1')</script>".to_owned();
    let page = html(&Report::of(&run, false, Datasets::default()));
    assert!(
        page.contains("&lt;script&gt;alert('1')&lt;/script&gt;"),
        "{page}"
    );
    assert!(
        !page.contains("<script") && !page.contains("http"),
        "{page}"
    );
    assert!(page.contains("0.96\u{202f}s of it for batch 4"), "{page}");
    assert!(page.contains("prefers-color-scheme:dark"));
    // Each opening tag has a closing tag.
    for tag in [
        "html", "body", "main", "svg", "rect", "title", "table", "tr", "td", "th", "ol", "li", "p",
        "h2",
    ] {
        let open =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
    // The parts fill the whole bar.
    let bar = page.split("</svg>").next().unwrap_or_default();
    let widths = bar.split(" width=\"").skip(1);
    let widths = widths.filter_map(|w| w.split('"').next()?.parse::<f64>().ok());
    assert!((widths.sum::<f64>() - WIDTH).abs() < 0.1, "{bar}");
}

/// Regression test: a wait for a sample of "20.0 ms" was shown as "0.02 s".
#[test]
fn waits_for_samples_have_the_unit_of_the_samples() {
    let run = simulated(&RunOptions {
        dataset: "synthetic:len=80,cost_ms=20".to_owned(),
        batch_size: Some(1),
        num_workers: 1,
        ..RunOptions::default()
    });
    assert!(run.end() > Nanos::from_millis(1_000));
    let page = html(&Report::of(&run, false, Datasets::default()));
    let (_, samples) = page
        .split_once("Samples that caused the longest waits")
        .expect("they are listed");
    let table = samples.split("</table>").next().unwrap_or_default();
    assert!(table.contains("ms"), "{table}");
    assert!(!table.contains("0.02"), "{table}");
}
