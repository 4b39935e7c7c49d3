//! The panels at the sides of the window.

use loadscope_model::prefs::Splits;
use loadscope_model::state::State;

/// Below this width a window has room for one panel at its side, points.
const NARROW: f32 = 900.0;
/// Below this width the options would cover the run, as on a phone, points.
const PHONE: f32 = 600.0;
/// Width of the options, and of the inspector, at least and in a wide window, points.
const OPTIONS: (f32, f32) = (268.0, 268.0);
const INSPECTOR: (f32, f32) = (240.0, 300.0);
/// Their parts of the width of the window.
const SHARES: (f32, f32) = (0.19, 0.21);

/// A panel at a side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    /// Its name, another one in a window of another width: egui keeps the size of a panel by name. It does not depend on what was dragged, or
    /// a drag would end with its first point.
    pub id: String,
    /// Its width at first, points.
    pub width: f32,
}

impl Side {
    fn new(name: &str, dragged: f32, share: f32, (least, most): (f32, f32), window: f32) -> Self {
        let usual = (window * share).clamp(least, most).round();
        Self {
            id: format!("{name} {usual}"),
            width: if dragged > 0.0 { dragged } else { usual },
        }
    }
}

/// The options and the inspector in a window of this width: a narrow one, or one whose texts are larger, leaves more of it to the run.
pub(crate) fn both(splits: &Splits, window: f32) -> (Side, Side) {
    (
        Side::new("options", splits.options, SHARES.0, OPTIONS, window),
        Side::new("inspector", splits.inspector, SHARES.1, INSPECTOR, window),
    )
}

/// True for a window as narrow as a phone: the options close once, so that the run is what is seen first.
pub(crate) fn is_phone(width: f32) -> bool {
    width < PHONE
}

/// True for the options, and for the inspector, if they are shown. A narrow window has room for one of them: a selection takes the
/// place of the options.
pub(crate) fn shown(state: &State, width: f32) -> (bool, bool) {
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

    /// At 1100 points, and at 1440 points enlarged to 150 %, the panels kept their width: the pipeline had 280 points.
    #[test]
    fn the_middle_has_a_part_of_every_window() {
        /// Margins of both panels.
        const MARGINS: f32 = 48.0;
        let mut before = 0.0;
        for width in (900..2600).map(|width| width as f32) {
            let (options, inspector) = both(&Splits::default(), width);
            let middle = width - options.width - inspector.width - MARGINS;
            assert!(middle >= 0.38 * width, "{middle} of {width}");
            assert!(middle >= before - 1.5, "it grows with the window");
            before = middle;
        }
        let (options, inspector) = both(&Splits::default(), 1440.0);
        assert_eq!((options.width, inspector.width), (268.0, 300.0));
    }

    #[test]
    fn a_panel_that_was_dragged_keeps_its_width() {
        let splits = Splits {
            options: 400.0,
            ..Splits::default()
        };
        for width in [900.0, 1440.0] {
            let (usual, _) = both(&Splits::default(), width);
            let (options, _) = both(&splits, width);
            let id = usual.id;
            assert_eq!(options, Side { id, width: 400.0 });
        }
    }
}
