//! Temporary PostgreSQL server from Debian's packages that ends with the test.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Password of the server's user, which must not appear in any output.
pub const PASSWORD: &str = "s3cret-p@ss:word/x";
/// The password, percent-encoded for a URL.
pub const QUOTED: &str = "s3cret-p%40ss%3Aword%2Fx";

pub struct Server {
    process: Child,
    port: u16,
    programs: PathBuf,
    folder: TempDir,
}

impl Server {
    /// Starts a server. Without PostgreSQL, prints a line and returns `None`.
    pub fn start() -> Option<Self> {
        let Some(programs) = programs() else {
            super::say("PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let secret = folder.path().join("password");
        std::fs::write(&secret, PASSWORD).unwrap();
        if is_root() {
            // The server refuses to run as root.
            let owned = Command::new("chown")
                .args(["-R", "postgres"])
                .arg(folder.path())
                .status();
            assert!(owned.unwrap().success());
        }
        let mut init = as_user(&programs.join("initdb"));
        init.args([
            "-A",
            "scram-sha-256",
            "-U",
            "ann",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
            "-D",
        ]);
        init.arg(&data)
            .arg(format!("--pwfile={}", secret.display()));
        let output = init.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = launch(&programs, &data, port);
        let server = Self {
            process,
            port,
            programs,
            folder,
        };
        server.await_start();
        Some(server)
    }

    fn await_start(&self) {
        let begin = Instant::now();
        loop {
            let mut ready = Command::new(self.programs.join("pg_isready"));
            ready
                .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
                .stdout(Stdio::null());
            if ready.status().unwrap().success() {
                return;
            }
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "the server does not start"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the URL with the password.
    pub fn url(&self) -> String {
        format!("postgresql://ann:{QUOTED}@127.0.0.1:{}/postgres", self.port)
    }

    /// Returns environment variables for `psycopg` and `psql`.
    pub fn environment(&self) -> [(&'static str, String); 5] {
        [
            ("PGHOST", "127.0.0.1".to_owned()),
            ("PGPORT", self.port.to_string()),
            ("PGUSER", "ann".to_owned()),
            ("PGPASSWORD", PASSWORD.to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
        ]
    }

    /// Runs each SQL text separately.
    pub fn run(&self, sql: &[&str]) {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-q", "-v", "ON_ERROR_STOP=1"])
            .envs(self.environment());
        for text in sql {
            psql.args(["-c", text]);
        }
        let output = psql.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Starts SQL in the background until the process is killed, for example to hold a lock.
    pub fn begin(&self, sql: &str) -> Child {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-q", "-c", sql])
            .envs(self.environment())
            .stdout(Stdio::null());
        psql.spawn().unwrap()
    }

    /// Sends a signal to the server and all its processes.
    pub fn signal(&self, signal: &str) {
        let parent = self.process.id().to_string();
        let children = Command::new("pgrep")
            .args(["-P", &parent])
            .output()
            .unwrap();
        let children = String::from_utf8(children.stdout).unwrap();
        for process in children.split_whitespace().chain([&*parent]) {
            let _ = Command::new("kill")
                .args([&format!("-{signal}"), process])
                .stderr(Stdio::null())
                .status();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal("CONT");
        self.signal("QUIT");
        let _ = self.process.wait();
        let _ = &self.folder;
    }
}

fn launch(programs: &Path, data: &Path, port: u16) -> Child {
    let mut server = as_user(&programs.join("postgres"));
    server.arg("-D").arg(data).args(["-p", &port.to_string()]);
    for setting in [
        "listen_addresses=127.0.0.1",
        "unix_socket_directories=",
        "fsync=off",
        "max_connections=30",
    ] {
        server.args(["-c", setting]);
    }
    server
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns a command that runs a PostgreSQL program as a user other than root.
fn as_user(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid=postgres", "--regid=postgres", "--clear-groups"])
        .arg(program);
    command
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.starts_with(b"0"))
}

/// Returns Debian's folder with the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut folders: Vec<PathBuf> = versions.flatten().map(|v| v.path().join("bin")).collect();
    folders.retain(|folder| folder.join("initdb").exists() && folder.join("postgres").exists());
    folders.sort();
    folders.pop()
}
