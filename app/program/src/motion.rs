//! Whether the system asks for reduced motion. Egui does not tell, so the desktop is asked: once, at the start, by a thread.
//!
//! Linux: the portal's `reduced-motion`, then GNOME's `enable-animations`. macOS: `reduceMotion`. Windows: `MinAnimate`. A desktop
//! that none of them knows is taken to ask for nothing; the user's own choice and `--reduce-motion` always count.

use std::process::{Command, Stdio};
use std::thread::Builder;

use crossbeam_channel::{Receiver, bounded};

use loadscope_session::Waker;

/// What the system asks for, as soon as it is known.
pub struct SystemMotion {
    answer: Receiver<bool>,
}

/// A program, its arguments, and the text in its answer that asks for reduced motion.
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
    /// Asks; `wake` is called when the answer is there.
    pub fn ask(wake: Waker) -> Self {
        let (out, answer) = bounded(1);
        let ask = move || {
            if out.send(asks_for_stillness(PROBES)).is_ok() {
                wake();
            }
        };
        // Without a thread there is no answer, and everything moves.
        let _ = Builder::new().name("motion".to_owned()).spawn(ask);
        Self { answer }
    }

    /// The answer is not wanted.
    pub fn unasked() -> Self {
        Self {
            answer: bounded(0).1,
        }
    }

    /// The answer, once.
    pub fn answer(&self) -> Option<bool> {
        self.answer.try_recv().ok()
    }
}

fn asks_for_stillness(probes: &[Probe]) -> bool {
    probes.iter().any(|(program, arguments, yes)| {
        let output = Command::new(program)
            .args(*arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        // A desktop without this program, or a program without this setting, says nothing.
        output.is_ok_and(|o| {
            o.status.success() && String::from_utf8_lossy(&o.stdout).trim().contains(yes)
        })
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_answer_counts() {
        let says = |text: &'static [&'static str], yes| asks_for_stillness(&[("echo", text, yes)]);
        assert!(says(&["(<uint32 1>,)"], "uint32 1"));
        assert!(!says(&["(<uint32 0>,)"], "uint32 1"));
        assert!(says(&["false"], "false"));
        assert!(!asks_for_stillness(&[(
            "there-is-no-such-program",
            &[],
            ""
        )]));
        assert!(!asks_for_stillness(&[("false", &[], "")]));
    }

    #[test]
    fn the_second_source_is_asked_if_the_first_says_nothing() {
        let missing: Probe = ("there-is-no-such-program", &[], "");
        assert!(asks_for_stillness(&[
            missing,
            ("echo", &["false"], "false")
        ]));
    }
}
