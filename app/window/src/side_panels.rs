//! Side panels of the window.

use loadscope_model::prefs::Splits;
use loadscope_model::state::State;

/// Minimum width of a window with two side panels, points.
const NARROW: f32 = 900.0;
/// Minimum width of a window whose options leave room for the run, points. A phone is narrower.
const PHONE: f32 = 600.0;
/// Minimum and maximum default width of the options and of the inspector, points.
const OPTIONS: (f32, f32) = (268.0, 268.0);
const INSPECTOR: (f32, f32) = (240.0, 300.0);
/// Fractions of the window width for the options and the inspector.
const SHARES: (f32, f32) = (0.19, 0.21);

/// A side panel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SidePanel {
    /// Panel id. It depends on the default width, because egui stores the size of a panel by id.
    /// It does not depend on the dragged width, because a drag would then end after its first point.
    pub id: String,
    /// Initial width, points.
    pub width: f32,
}

impl SidePanel {
    fn new(name: &str, dragged: f32, share: f32, (least, most): (f32, f32), window: f32) -> Self {
        let usual = (window * share).clamp(least, most).round();
        Self {
            id: format!("{name} {usual}"),
            width: if dragged > 0.0 { dragged } else { usual },
        }
    }
}

/// Returns the options and the inspector for this window width. In a narrow window, or with larger texts, they are smaller.
pub(crate) fn side_panels(splits: &Splits, window: f32) -> (SidePanel, SidePanel) {
    (
        SidePanel::new("options", splits.options, SHARES.0, OPTIONS, window),
        SidePanel::new("inspector", splits.inspector, SHARES.1, INSPECTOR, window),
    )
}

/// Returns true for a window as narrow as a phone. In it, the options close once to show the run.
pub(crate) fn is_phone(width: f32) -> bool {
    width < PHONE
}

/// Returns the visibility of the options and of the inspector.
/// A narrow window has room for one of them: a selection shows the inspector instead of the options.
pub(crate) fn visible(state: &State, width: f32) -> (bool, bool) {
    let (options, inspector) = (state.prefs.options_open, state.prefs.inspector_open);
    if width >= NARROW {
        return (options, inspector);
    }
    let has_something = state.has_run() && state.session.selection.is_some();
    let inspector = inspector && has_something;
    (options && !inspector, inspector)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: in windows of 1100 points, or of 1440 points at 150 %, the pipeline had 280 points.
    #[test]
    fn the_pipeline_gets_38_percent_of_every_window() {
        /// Margins of both panels, points.
        const MARGINS: f32 = 48.0;
        let mut before = 0.0;
        for width in (900..2600).map(|width| width as f32) {
            let (options, inspector) = side_panels(&Splits::default(), width);
            let middle = width - options.width - inspector.width - MARGINS;
            assert!(middle >= 0.38 * width, "{middle} of {width}");
            assert!(middle >= before - 1.5, "it grows with the window");
            before = middle;
        }
        let (options, inspector) = side_panels(&Splits::default(), 1440.0);
        assert_eq!((options.width, inspector.width), (268.0, 300.0));
    }

    #[test]
    fn a_dragged_panel_keeps_its_width() {
        let splits = Splits {
            options: 400.0,
            ..Splits::default()
        };
        for width in [900.0, 1440.0] {
            let (usual, _) = side_panels(&Splits::default(), width);
            let (options, _) = side_panels(&splits, width);
            let id = usual.id;
            assert_eq!(options, SidePanel { id, width: 400.0 });
        }
    }
}
