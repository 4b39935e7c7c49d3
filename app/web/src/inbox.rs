//! Inbox for files, pieces of a growing recording, and questions from the page. The window empties it in its next frame.

use std::cell::RefCell;
use std::collections::VecDeque;

use eframe::egui::Context;

/// News from the page.
pub(crate) enum News {
    /// File to open, or to compare with the shown run.
    File {
        name: String,
        bytes: Vec<u8>,
        compare: bool,
    },
    /// Progress of a file that the page fetches.
    Fetching { name: String, share: f32 },
    /// Start of a recording that arrives in pieces.
    Begun,
    /// Whole lines of the recording.
    Piece(Vec<u8>),
    /// End of the recording, with a sentence if it failed.
    Ended(Option<String>),
    /// Error in the page.
    Failed(String),
    /// Request for the texts on the screen.
    Read,
}

#[derive(Default)]
struct Inbox {
    news: VecDeque<News>,
    window: Option<Context>,
}

thread_local! {
    static INBOX: RefCell<Inbox> = RefCell::default();
}

/// Stores the window, to repaint it when news arrives.
pub(crate) fn announce(window: &Context) {
    INBOX.with_borrow_mut(|inbox| inbox.window = Some(window.clone()));
}

/// Adds news and repaints the window.
pub(crate) fn put(news: News) {
    INBOX.with_borrow_mut(|inbox| {
        inbox.news.push_back(news);
        if let Some(window) = &inbox.window {
            window.request_repaint();
        }
    });
}

/// Removes and returns the oldest news.
pub(crate) fn next() -> Option<News> {
    INBOX.with_borrow_mut(|inbox| inbox.news.pop_front())
}

pub(crate) fn has_more() -> bool {
    INBOX.with_borrow(|inbox| !inbox.news.is_empty())
}
