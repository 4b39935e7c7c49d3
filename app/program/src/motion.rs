//! Detection of the system's setting for reduced motion. Egui does not report it, so a thread asks the desktop once at the start.
//!
//! Linux: the portal's `reduced-motion`, then GNOME's `enable-animations`. macOS: `reduceMotion`. Windows: `MinAnimate`. On other desktops,
//! motion is not reduced. The user's own choice and `--reduce-motion` take precedence.

use std::process::{Command, Stdio};
use std::thread::Builder;

use crossbeam_channel::{Receiver, bounded};

use loadscope_session::Waker;

/// Pending answer about the system's setting.
pub struct SystemMotion {
    answer: Receiver<bool>,
}

/// Program, its arguments, and the text in its output that means reduced motion.
type Probe = (&'static str, &'static [&'static str], &'static str);

#[cfg(target_os = "macos")]
const PROBES: &[Probe] = &[(
    "defaults",
    &["read", "com.apple.universalaccess", "reduceMotion"],
    "1",
)];
#[cfg(target_os = "windows")]
const PROBES: &[Probe] = &[(
    "reg",
    &[
        "query",
        r"HKCU\Control Panel\Desktop\WindowMetrics",
        "/v",
        "MinAnimate",
    ],
    "REG_SZ    0",
)];
#[cfg(not(any(target_os = "macos", target_os = "windows")))]
const PROBES: &[Probe] = &[
    (
        "gdbus",
        &[
            "call",
            "--session",
            "--timeout=2",
            "--dest=org.freedesktop.portal.Desktop",
            "--object-path=/org/freedesktop/portal/desktop",
            "--method=org.freedesktop.portal.Settings.ReadOne",
            "org.freedesktop.appearance",
            "reduced-motion",
        ],
        "uint32 1",
    ),
    (
        "gsettings",
        &["get", "org.gnome.desktop.interface", "enable-animations"],
        "false",
    ),
];

impl SystemMotion {
    /// Asks the system. It calls `wake` when the answer is available.
    pub fn query(wake: Waker) -> Self {
        let (out, answer) = bounded(1);
        let ask = move || {
            if out.send(is_motion_reduced(PROBES)).is_ok() {
                wake();
            }
        };
        // Without a thread there is no answer, and animations stay on.
        let _ = Builder::new().name("motion".to_owned()).spawn(ask);
        Self { answer }
    }

    /// Creates a value without an answer.
    pub fn unknown() -> Self {
        Self {
            answer: bounded(0).1,
        }
    }

    /// Returns the answer, once.
    pub fn poll(&self) -> Option<bool> {
        self.answer.try_recv().ok()
    }
}

fn is_motion_reduced(probes: &[Probe]) -> bool {
    probes.iter().any(|(program, arguments, yes)| {
        let output = Command::new(program)
            .args(*arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        // A missing program or setting counts as no answer.
        output.is_ok_and(|o| {
            o.status.success() && String::from_utf8_lossy(&o.stdout).trim().contains(yes)
        })
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn reduced_motion_needs_the_expected_output() {
        let says = |text: &'static [&'static str], yes| is_motion_reduced(&[("echo", text, yes)]);
        assert!(says(&["(<uint32 1>,)"], "uint32 1"));
        assert!(!says(&["(<uint32 0>,)"], "uint32 1"));
        assert!(says(&["false"], "false"));
        assert!(!is_motion_reduced(&[("there-is-no-such-program", &[], "")]));
        assert!(!is_motion_reduced(&[("false", &[], "")]));
    }

    #[test]
    fn the_second_probe_runs_if_the_first_has_no_answer() {
        let missing: Probe = ("there-is-no-such-program", &[], "");
        assert!(is_motion_reduced(&[missing, ("echo", &["false"], "false")]));
    }
}
