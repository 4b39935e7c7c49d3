//! Preferences in the browser's local storage. A page opened from a mail or inside another page may have none.

use std::time::Duration;

use loadscope_model::prefs::Prefs;
use loadscope_trace::without_password;
use web_sys::Storage;

use crate::platform::PLATFORM;

/// Key of the preferences.
const KEY: &str = "loadscope.preferences";

/// Minimum time between two writes.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Storage of the preferences.
#[derive(Default)]
pub(crate) struct Store {
    saved: Option<Prefs>,
    saved_at: Duration,
}

fn storage() -> Option<Storage> {
    // A browser that blocks storage returns an error, not `None`.
    web_sys::window()?.local_storage().ok()?
}

impl Store {
    /// Loads the stored preferences, if any.
    pub fn load(&mut self) -> Option<Prefs> {
        let text = storage()?.get_item(KEY).ok()??;
        let prefs: Prefs = serde_json::from_str(&text).ok()?;
        self.saved = Some(prefs.clone());
        Some(prefs)
    }

    /// Stores the preferences if they changed, at most once per [`MIN_INTERVAL`].
    pub fn save(&mut self, prefs: &Prefs) {
        let now = PLATFORM.clock.now();
        if now.saturating_sub(self.saved_at) < MIN_INTERVAL || self.saved.as_ref() == Some(prefs) {
            return;
        }
        self.saved_at = now;
        self.saved = Some(prefs.clone());
        let mut prefs = prefs.clone();
        // A page cannot reopen a file by its name. Passwords are not stored.
        prefs.recent.clear();
        prefs.options.dataset = without_password(&prefs.options.dataset);
        if let (Some(storage), Ok(text)) = (storage(), serde_json::to_string(&prefs)) {
            // Without room, the preferences are not stored.
            let _ = storage.set_item(KEY, &text);
        }
    }
}
