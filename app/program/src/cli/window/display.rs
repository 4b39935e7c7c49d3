//! Display of the window. It may be missing, or its connection may be lost. The window library then panics at some places.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::ensure;
use loadscope_words::say;

use crate::page::HAS_PAGE;

/// Checks that a variable names a display. The display may still be unreachable. `in_browser` and `in_terminal` are commands without a
/// window.
///
/// # Errors
/// If no variable names a display.
pub fn needed(in_browser: &str, in_terminal: &str) -> anyhow::Result<()> {
    let instead = match HAS_PAGE {
        true => say!("`{in_browser}` for a browser, or `{in_terminal}`"),
        false => format!("`{in_terminal}`"),
    };
    const NAMES: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    ensure!(
        !cfg!(target_os = "linux") || NAMES.into_iter().any(is_set),
        say!(
            "cannot open a window, because neither DISPLAY nor WAYLAND_DISPLAY is set. Use {instead}."
        )
    );
    Ok(())
}

/// Calls `open`. Returns `None` if the connection to the display was lost.
pub fn guarded<T>(open: impl FnOnce() -> T) -> Option<T> {
    let is_gone = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&is_gone);
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or("", |place| place.file());
        match is_of_display(place, info.payload_as_str().unwrap_or_default()) {
            true => told.store(true, Ordering::Release),
            false => usual(info),
        }
    }));
    let opened = panic::catch_unwind(AssertUnwindSafe(open));
    drop(panic::take_hook());
    match opened {
        Ok(opened) => Some(opened),
        Err(_) if is_gone.load(Ordering::Acquire) => None,
        Err(cause) => panic::resume_unwind(cause),
    }
}

/// Returns true for a panic about the connection to the display. `place` is its source file.
fn is_of_display(place: &str, words: &str) -> bool {
    place.contains("winit-") && (words.contains("Connection") || words.contains("connection"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_display_panic_counts_as_a_lost_connection() {
        let place = "/registry/src/winit-0.30.13/src/platform_impl/linux/x11/window.rs";
        let words = "called `Result::unwrap()` on an `Err` value: Connection(IoError(Custom { kind: Other }))";
        assert!(is_of_display(place, words));
        assert!(!is_of_display(place, "index out of bounds"));
        assert!(!is_of_display("app/program/src/window.rs", words));
    }

    #[test]
    fn guarded_returns_the_result_of_its_closure() {
        assert_eq!(guarded(|| 7), Some(7));
    }
}
