//! `loadscope record --ssh`, through a real `sshd` on this host that only this test can log into.
#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::print_stdout, reason = "a test says what it did not run")]

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{pytorch, words};

#[allow(dead_code, reason = "other tests need the rest of it")]
const SSHD: &str = "/usr/sbin/sshd";
/// Timeout of a command.
const DEADLINE: Duration = Duration::from_secs(60);

/// SSH server at 127.0.0.1 with its own keys and folder.
struct Server {
    child: Child,
    folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(command: &mut Command) {
    let ran = command.output().expect("it starts");
    assert!(ran.status.success(), "{command:?}: {ran:?}");
}

impl Server {
    /// Starts a server. `more` is added to its configuration. Returns `None` if `sshd` is not installed.
    fn start(more: &str) -> Option<Self> {
        let is_there = Path::new(SSHD).exists() && Path::new("/usr/bin/ssh-keygen").exists();
        if !is_there {
            println!("NOT RUN: {SSHD} is missing. Install openssh-server");
            return None;
        }
        // As root, `sshd` needs this folder. Its package creates it when the system boots.
        drop(std::fs::create_dir_all("/run/sshd"));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name).display().to_string();
        for key in ["host", "user"] {
            run(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]));
        }
        std::fs::copy(at("user.pub"), at("allowed")).expect("there is room");
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .expect("a free port")
            .port();
        let config = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\n\
             StrictModes no\nPasswordAuthentication no\n{more}\n",
            at("host"),
            at("allowed")
        );
        std::fs::write(at("sshd_config"), config).expect("there is room");
        let config = format!(
            "Host gpu7\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {}\n  IdentitiesOnly yes\n  \
             StrictHostKeyChecking no\n  UserKnownHostsFile {}\n  LogLevel ERROR\n",
            at("user"),
            at("known")
        );
        std::fs::write(at("ssh_config"), config).expect("there is room");
        let child = Command::new(SSHD)
            .args(["-D", "-e", "-f", &at("sshd_config")])
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let server = Self { child, folder };
        let since = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(since.elapsed() < DEADLINE, "sshd does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    /// Records `program` through the server.
    fn record(&self, place: &str, log: &Path, program: &[&str]) -> Output {
        let config = self.folder.path().join("ssh_config");
        let mut command = Command::new("timeout");
        command
            .arg(DEADLINE.as_secs().to_string())
            .arg(env!("CARGO_BIN_EXE_loadscope"))
            .env_remove("LD_LIBRARY_PATH")
            .env("LOADSCOPE_SSH", format!("ssh -F {}", config.display()))
            .stdin(Stdio::null())
            .args(["record", "--ssh", place, "-o"])
            .arg(log)
            .arg("--")
            .args(program);
        command.output().expect("it starts")
    }
}

#[test]
fn a_remote_program_keeps_its_exit_code_and_leaves_no_files() {
    let Some(server) = Server::start("") else {
        return;
    };
    let work = tempfile::tempdir().expect("a temporary folder");
    let log = work.path().join("run.jsonl");
    let place = format!("gpu7:{}", work.path().display());
    let show = r#"printf '%s|' "$0" "$1" "$(pwd)" "$PYTHONPATH"; exit 5"#;
    let ended = server.record(&place, &log, &["sh", "-c", show, "it's", "a $b"]);
    let (said, complained) = words(&ended);
    assert_eq!(ended.status.code(), Some(5), "{said} {complained}");
    let parts: Vec<&str> = said.split('|').collect();
    assert_eq!(parts[..2], ["it's", "a $b"]);
    let folder = work.path().canonicalize().expect("it is there");
    assert_eq!(parts[2], folder.display().to_string());
    let probe = parts[3].split(':').next().expect("a folder");
    assert!(probe.contains("loadscope-run-"), "{said}");
    assert!(!Path::new(probe).exists(), "the folder is removed");
}

#[test]
fn missing_socket_forwarding_is_reported_before_the_start() {
    let Some(server) = Server::start("AllowStreamLocalForwarding no") else {
        return;
    };
    let work = tempfile::tempdir().expect("a temporary folder");
    let ended = server.record("gpu7", &work.path().join("run.jsonl"), &["echo", "started"]);
    let (said, complained) = words(&ended);
    assert_eq!(ended.status.code(), Some(255), "{said} {complained}");
    assert!(!said.contains("started"), "{said}");
    assert!(complained.contains("forward"), "{complained}");
}

#[test]
fn an_unreachable_host_is_named() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| work.path().join(name);
    let script = "echo 'ssh: Could not resolve hostname nohost' >&2; exit 255\n";
    std::fs::write(at("ssh"), script).expect("there is room");
    let ended = Command::new(env!("CARGO_BIN_EXE_loadscope"))
        .env("LOADSCOPE_SSH", format!("sh {}", at("ssh").display()))
        .stdin(Stdio::null())
        .args(["record", "--ssh", "nohost", "-o"])
        .arg(at("run.jsonl"))
        .args(["--", "true"])
        .output();
    let ended = ended.expect("it starts");
    let (_, complained) = words(&ended);
    assert_eq!(ended.status.code(), Some(255), "{complained}");
    for part in [
        "Could not resolve hostname",
        "ssh failed for host nohost",
        "`ssh nohost`",
    ] {
        assert!(complained.contains(part), "{complained}");
    }
    // The program did not start, so the message must not blame flags of Python.
    assert!(!complained.contains("-I, -E"), "{complained}");
    assert!(!at("run.jsonl").exists());
}

#[test]
fn a_failed_remote_start_gets_no_advice_on_python() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let at = |name: &str| work.path().join(name);
    for (code, part) in [
        (2, "ended with exit code 2 before it imported PyTorch"),
        (126, "could not start on gpu7"),
        (127, "could not start on gpu7"),
    ] {
        let script = format!("echo 'sh: python: not found' >&2; exit {code}\n");
        std::fs::write(at("ssh"), script).expect("there is room");
        let ended = Command::new(env!("CARGO_BIN_EXE_loadscope"))
            .env("LOADSCOPE_SSH", format!("sh {}", at("ssh").display()))
            .stdin(Stdio::null())
            .args(["record", "--ssh", "gpu7", "-o"])
            .arg(at("run.jsonl"))
            .args(["--", "python", "train.py"])
            .output();
        let ended = ended.expect("it starts");
        let (_, complained) = words(&ended);
        assert_eq!(ended.status.code(), Some(code), "{complained}");
        assert!(complained.contains(part), "{complained}");
        assert!(!complained.contains("-I, -E"), "{complained}");
        assert!(!at("run.jsonl").exists());
    }
}

#[test]
fn every_batch_of_a_program_on_another_host_is_recorded() {
    let (Some(python), Some(server)) = (pytorch(), Server::start("")) else {
        println!("NOT RUN: there is no PyTorch here, or no sshd");
        return;
    };
    let work = tempfile::tempdir().expect("a temporary folder");
    let program: PathBuf = work.path().join("train.py");
    std::fs::write(
        &program,
        "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n\
         data = TensorDataset(torch.arange(400))\nloader = DataLoader(data, batch_size=4, num_workers=2)\n\
         print(sum(1 for _ in loader))\n",
    )
    .expect("there is room");
    let log = work.path().join("run.jsonl");
    let place = format!("gpu7:{}", work.path().display());
    let python = python.display().to_string();
    let ended = server.record(&place, &log, &[&python, "train.py"]);
    let (said, complained) = words(&ended);
    assert!(ended.status.success(), "{said} {complained}");
    assert_eq!(said.trim(), "100");
    assert!(complained.contains("1 loader, 100 batches"), "{complained}");
}
