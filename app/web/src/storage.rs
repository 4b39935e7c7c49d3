//! The preferences, in the browser's local storage. A page that was opened from a mail or stands in another page may have none.

use std::time::Duration;

use loadscope_model::prefs::Prefs;
use loadscope_trace::without_password;
use web_sys::Storage;

use crate::platform::PLATFORM;

/// Under this name.
const KEY: &str = "loadscope.preferences";

/// They are written so often at most.
const EVERY: Duration = Duration::from_secs(1);

/// Keeps the preferences.
#[derive(Default)]
pub(crate) struct Store {
    kept: Option<Prefs>,
    looked: Duration,
}

fn storage() -> Option<Storage> {
    // The browser refuses it, rather than to have none, where pages may keep nothing.
    web_sys::window()?.local_storage().ok()?
}

impl Store {
    /// What was kept, if anything was.
    pub fn load(&mut self) -> Option<Prefs> {
        let text = storage()?.get_item(KEY).ok()??;
        let prefs: Prefs = serde_json::from_str(&text).ok()?;
        self.kept = Some(prefs.clone());
        Some(prefs)
    }

    /// Writes them now and then, if they have changed.
    pub fn keep(&mut self, prefs: &Prefs) {
        let now = PLATFORM.clock.now();
        if now.saturating_sub(self.looked) < EVERY || self.kept.as_ref() == Some(prefs) {
            return;
        }
        self.looked = now;
        self.kept = Some(prefs.clone());
        let mut prefs = prefs.clone();
        // A page cannot open a file again by its name. Passwords are not kept.
        prefs.recent.clear();
        prefs.options.dataset = without_password(&prefs.options.dataset);
        if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(&prefs)) {
            // Where there is no room, they are forgotten.
            let _ = storage.set_item(KEY, &text);
        }
    }
}
