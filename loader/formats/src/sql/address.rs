//! Where a server is, and who asks. The password is never shown.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use loadscope_words::say;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::error::{Fault, FormatError, Place};

/// The passwords that were given to this process in URLs, by the URLs without them.
static GIVEN: LazyLock<Mutex<HashMap<String, Password>>> = LazyLock::new(Mutex::default);

/// A password. Neither `Debug` nor anything else shows it, and it can be neither written nor sent but to the server.
#[derive(Clone)]
pub struct Password(Vec<u8>);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

/// Takes the password out of a URL and keeps it in this process, so that the URL can be shown and recorded. [`Address::parse`]
/// finds it again. What is no URL of a server, or has no password, comes back as it is.
///
/// # Errors
/// If it begins as a URL of a server but cannot be read, with a text that holds nothing of the password.
pub fn keep_password(url: &str) -> Result<String, FormatError> {
    let Some((bare, password)) = split_password(url)? else {
        return Ok(url.to_owned());
    };
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    given.insert(bare.clone(), password);
    Ok(bare)
}

/// The URL without its password, and the password; `None`: it has none.
fn split_password(url: &str) -> Result<Option<(String, Password)>, FormatError> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Ok(None);
    };
    // As the library reads it: what is in front of the last @ before the path is the user.
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let at = match authority.rfind('@') {
        Some(at) => Some(at),
        // A password with a slash that is not written as %2F.
        None if tail.contains('@') => return Err(unreadable()),
        None => None,
    };
    let in_query = tail.split_once('?').is_some_and(|(_, query)| {
        let mut names = query.split('&').filter_map(|pair| pair.split('=').next());
        names.any(|name| name.eq_ignore_ascii_case("password"))
    });
    if in_query {
        return Err(FormatError::new(
            Fault::Asked,
            Place::named(say!("the URL of the server")),
            say!("it has a password after the question mark"),
            say!("Write postgresql://user:password@host:port/database, or set PGPASSWORD"),
        ));
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

/// The library's own messages may quote the URL.
fn unreadable() -> FormatError {
    FormatError::new(
        Fault::Asked,
        Place::named(say!("the URL of the server")),
        say!("it cannot be read"),
        say!(
            "Write postgresql://user@host:port/database, with %2F for a slash, %40 for an @ and %3A for a colon in user or password"
        ),
    )
}

/// A PostgreSQL server, a database and a user.
#[derive(Clone)]
pub struct Address {
    config: Arc<Config>,
    shown: String,
}

impl Address {
    /// How long a connection is waited for.
    const CONNECT: Duration = Duration::from_secs(10);

    /// Reads `postgresql://user:password@host:port/db`. Without a password there the one that [`keep_password`] took out of this
    /// URL is used, or the one in the environment variable `PGPASSWORD`.
    ///
    /// # Errors
    /// If it cannot be read, names no host, or asks for TLS, which is not built in.
    pub fn parse(url: &str) -> Result<Self, FormatError> {
        let (bare, password) = match split_password(url)? {
            Some((bare, password)) => (bare, Some(password)),
            None => (url.to_owned(), None),
        };
        let mut config: Config = bare.parse().map_err(|_| unreadable())?;
        let kept = || {
            let given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
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
            return Err(FormatError::new(
                Fault::Asked,
                Place::named(shown),
                say!("it names no host"),
                say!("Write postgresql://user@host:port/database"),
            ));
        }
        if config.get_ssl_mode() == SslMode::Require {
            return Err(FormatError::new(
                Fault::Asked,
                Place::named(shown),
                say!("encrypted connections are not supported"),
                say!("Remove sslmode, or forward the port with ssh -L"),
            ));
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

/// User, host, port and database.
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
        let mut texts = vec![format!("{parsed:?}"), format!("{:?}", keep_password(url))];
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
    fn a_password_that_was_kept_is_found_again() {
        let bare = keep_password("postgresql://bob:hun%40ter2@db:5433/shop").unwrap();
        assert_eq!(bare, "postgresql://bob@db:5433/shop");
        let address = Address::parse(&bare).unwrap();
        assert_eq!(address.config().get_password(), Some(&b"hun@ter2"[..]));
        assert_eq!(address.to_string(), "postgresql://bob@db:5433/shop");
        assert_eq!(keep_password("sqlite:a@b:c").unwrap(), "sqlite:a@b:c");
    }
}
