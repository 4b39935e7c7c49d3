//! Address and credentials of a server. The password is never shown.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use loadscope_words::say;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::{FormatError, Place};

/// Passwords from URLs in this process, by the URLs without them.
static PASSWORDS: LazyLock<Mutex<HashMap<String, Password>>> = LazyLock::new(Mutex::default);

/// A password. `Debug` hides it, and only the server receives it.
#[derive(Clone)]
pub struct Password(Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

/// Removes the password from a URL and stores it in this process, so that the URL can be shown and recorded. [`Address::parse`] finds the
/// password again. Other text, or a URL without a password, is returned unchanged.
///
/// # Errors
/// If the text begins like a server URL but is invalid. The error contains no part of the password.
pub fn store_password(url: &str) -> Result<String, FormatError> {
    let Some((bare, password)) = split_password(url)? else {
        return Ok(url.to_owned());
    };
    let mut given = PASSWORDS.lock().unwrap_or_else(PoisonError::into_inner);
    given.insert(bare.clone(), password);
    Ok(bare)
}

/// Returns the URL without its password and the password, or `None` if it has none.
fn split_password(url: &str) -> Result<Option<(String, Password)>, FormatError> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Ok(None);
    };
    // As in the library, the user is the part before the last @ in front of the path.
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let at = match authority.rfind('@') {
        Some(at) => Some(at),
        // The password contains a slash that is not escaped as %2F.
        None if tail.contains('@') => return Err(unreadable()),
        None => None,
    };
    let in_query = tail.split_once('?').is_some_and(|(_, query)| {
        let mut names = query.split('&').filter_map(|pair| pair.split('=').next());
        names.any(|name| name.eq_ignore_ascii_case("password"))
    });
    if in_query {
        bail!(InvalidOption, Place::named(say!("the URL of the server")), say!("it has a password after the question mark");
            say!("Write postgresql://user:password@host:port/database, or set PGPASSWORD"));
    }
    let Some((user, password)) = at.and_then(|at| authority.get(..at)?.split_once(':')) else {
        return Ok(None);
    };
    let host = authority.get(at.unwrap_or_default()..).unwrap_or_default();
    let config: Config = url.parse().map_err(|_| unreadable())?;
    let given = config.get_password().unwrap_or(password.as_bytes());
    Ok(Some((
        format!("{scheme}://{user}{host}{tail}"),
        Password(given.to_vec()),
    )))
}

/// Returns a separate error, because the library's messages may quote the URL.
fn unreadable() -> FormatError {
    fault!(InvalidOption, Place::named(say!("the URL of the server")), say!("it cannot be read");
        say!("Write postgresql://user@host:port/database, with %2F for a slash, %40 for an @ and %3A for a colon in user or password"))
}

/// A PostgreSQL server, a database and a user.
#[derive(Clone)]
pub struct Address {
    config: Arc<Config>,
    shown: String,
}

impl Address {
    /// Timeout of a connection.
    const CONNECT: Duration = Duration::from_secs(10);

    /// Parses `postgresql://user:password@host:port/db`. Without a password, it uses the one that [`store_password`] stored for this URL,
    /// or the environment variable `PGPASSWORD`.
    ///
    /// # Errors
    /// If the URL is invalid, has no host, or requires TLS, which is not supported.
    pub fn parse(url: &str) -> Result<Self, FormatError> {
        let (bare, password) = match split_password(url)? {
            Some((bare, password)) => (bare, Some(password)),
            None => (url.to_owned(), None),
        };
        let mut config: Config = bare.parse().map_err(|_| unreadable())?;
        let kept = || {
            let given = PASSWORDS.lock().unwrap_or_else(PoisonError::into_inner);
            given.get(&bare).cloned()
        };
        let variable = || Some(Password(std::env::var("PGPASSWORD").ok()?.into_bytes()));
        if let Some(password) = password.or_else(kept).or_else(variable) {
            config.password(password.0);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Self::CONNECT);
        }
        let shown = shown(&config);
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            bail!(InvalidOption, Place::named(shown), say!("it names no host");
                say!("Write postgresql://user@host:port/database"));
        }
        if config.get_ssl_mode() == SslMode::Require {
            bail!(InvalidOption, Place::named(shown), say!("encrypted connections are not supported");
                say!("Remove sslmode, or forward the port with ssh -L"));
        }
        Ok(Self {
            config: Arc::new(config),
            shown,
        })
    }

    pub(super) fn config(&self) -> &Config {
        &self.config
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

/// Formats user, host, port and database.
fn shown(config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@"));
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().map(|port| format!(":{port}"));
    let database = config.get_dbname().map(|name| format!("/{name}"));
    format!(
        "postgresql://{}{host}{}{}",
        user.unwrap_or_default(),
        port.unwrap_or_default(),
        database.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "hunter2";

    fn texts(url: &str) -> Vec<String> {
        let parsed = Address::parse(url);
        let mut texts = vec![format!("{parsed:?}"), format!("{:?}", store_password(url))];
        match parsed {
            Ok(address) => texts.extend([
                address.to_string(),
                format!("{:?}", super::super::Source::parse(url)),
            ]),
            Err(error) => texts.push(error.to_string()),
        }
        texts
    }

    #[test]
    fn passwords_are_not_shown() {
        for url in [
            "postgresql://ann:hunter2@db:5433/shop",
            "postgresql://ann:hunter2@db/shop?sslmode=require",
            "postgresql://ann:hunter2@db:port/shop",
            "postgresql://ann:hunter2@/shop",
            "postgresql://ann:hunter2/x@db/shop",
            "postgresql://ann:x@hunter2@db/shop",
            "postgresql://ann:hunter2@db/shop?unknown=1",
            "postgresql://db/shop?user=ann&password=hunter2",
            "postgresql://db/shop?PASSWORD=hunter2",
            "postgresql://ann:hunter2%zz@db/shop",
            "postgres://ann:hunter2@[::1/shop",
        ] {
            for text in texts(url) {
                assert!(!text.contains(SECRET), "{url}: {text}");
            }
        }
        assert_eq!(format!("{:?}", Password(SECRET.into())), "Password(hidden)");
    }

    #[test]
    fn a_stored_password_is_found_by_its_address() {
        let bare = store_password("postgresql://bob:hun%40ter2@db:5433/shop").unwrap();
        assert_eq!(bare, "postgresql://bob@db:5433/shop");
        let address = Address::parse(&bare).unwrap();
        assert_eq!(address.config().get_password(), Some(&b"hun@ter2"[..]));
        assert_eq!(address.to_string(), "postgresql://bob@db:5433/shop");
        assert_eq!(store_password("sqlite:a@b:c").unwrap(), "sqlite:a@b:c");
    }
}
