//! Inbox for files, pieces of a growing recording, and questions from the page. The window empties it in its next frame.

use std::cell::RefCell;
use std::collections::VecDeque;

use eframe::egui::Context;

/// Message from the page.
pub(crate) enum PageEvent {
    /// File to open, or to compare with the shown run.
    File {
        name: String,
        bytes: Vec<u8>,
        compare: bool,
    },
    /// Progress of a file that the page fetches.
    Fetching { name: String, share: f32 },
    /// Start of a recording that arrives in pieces.
    LiveStarted,
    /// Whole lines of the recording.
    LiveLines(Vec<u8>),
    /// End of the recording, with an error message if it failed.
    LiveEnded(Option<String>),
    /// Error in the page.
    Error(String),
    /// Request for the texts on the screen.
    ReadScreen,
}

#[derive(Default)]
struct Inbox {
    events: VecDeque<PageEvent>,
    window: Option<Context>,
}

thread_local! {
    static INBOX: RefCell<Inbox> = RefCell::default();
}

/// Stores the window, to repaint it when a message arrives.
pub(crate) fn set_context(window: &Context) {
    INBOX.with_borrow_mut(|inbox| inbox.window = Some(window.clone()));
}

/// Adds a message and repaints the window.
pub(crate) fn push(event: PageEvent) {
    INBOX.with_borrow_mut(|inbox| {
        inbox.events.push_back(event);
        if let Some(window) = &inbox.window {
            window.request_repaint();
        }
    });
}

/// Removes and returns the oldest message.
pub(crate) fn pop() -> Option<PageEvent> {
    INBOX.with_borrow_mut(|inbox| inbox.events.pop_front())
}

pub(crate) fn has_more() -> bool {
    INBOX.with_borrow(|inbox| !inbox.events.is_empty())
}
