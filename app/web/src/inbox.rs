//! What comes from the page: files, pieces of a recording that grows, questions. The window takes it in with its next frame.

use std::cell::RefCell;
use std::collections::VecDeque;

use eframe::egui::Context;

/// Something new from the page.
pub(crate) enum News {
    /// A file, and whether the run that is shown is to be compared with it.
    File {
        name: String,
        bytes: Vec<u8>,
        compare: bool,
    },
    /// The page fetches a file.
    Fetching { name: String, share: f32 },
    /// A program is recorded, and its recording comes piece by piece.
    Begun,
    /// Whole lines of it.
    Piece(Vec<u8>),
    /// It has ended. The sentence says what ended it, if something went wrong.
    Ended(Option<String>),
    /// Something went wrong in the page.
    Failed(String),
    /// What is on the screen is asked for.
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

/// Where the window is, so that it can be woken.
pub(crate) fn announce(window: &Context) {
    INBOX.with_borrow_mut(|inbox| inbox.window = Some(window.clone()));
}

/// Puts something in, and wakes the window.
pub(crate) fn put(news: News) {
    INBOX.with_borrow_mut(|inbox| {
        inbox.news.push_back(news);
        if let Some(window) = &inbox.window {
            window.request_repaint();
        }
    });
}

/// The next of what came.
pub(crate) fn next() -> Option<News> {
    INBOX.with_borrow_mut(|inbox| inbox.news.pop_front())
}

/// True if more has come.
pub(crate) fn has_more() -> bool {
    INBOX.with_borrow(|inbox| !inbox.news.is_empty())
}
