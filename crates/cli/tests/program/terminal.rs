//! The program on a terminal: a real pseudo-terminal, with somebody who looks at it and types.

use std::{
    fs::File,
    io::{Read, Write},
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use rustix::{
    fs::{Mode, OFlags, open},
    io::{FdFlags, fcntl_setfd},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::fixture::{Running, wait_until};

const COLUMNS: u16 = 100;

/// A terminal, and the program that runs on it.
pub(crate) struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    reader: thread::JoinHandle<()>,
    program: Running,
}

impl Terminal {
    /// Starts the program with all three of its streams on a terminal.
    pub(crate) fn start(command: Command) -> Self {
        Self::start_but(command, None)
    }

    /// The same, but for what it says beside its answer, if that goes into a file.
    pub(crate) fn start_but(mut command: Command, err: Option<File>) -> Self {
        let (ours, theirs) = pair();
        let stream = || Stdio::from(theirs.try_clone().unwrap());
        command.stdin(stream()).stdout(stream()).stderr(err.map_or_else(stream, Stdio::from));
        let program = Running(command.spawn().unwrap());
        let screen = Arc::<Mutex<Vec<u8>>>::default();
        let (mut source, seen) = (ours.try_clone().unwrap(), Arc::clone(&screen));
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4_096];
            // When nobody is on the terminal any more, reading it is an error.
            while let Ok(count @ 1..) = source.read(&mut bytes) {
                seen.lock().unwrap().extend_from_slice(&bytes[..count]);
            }
        });
        Self { keyboard: ours, screen, reader, program }
    }

    /// Waits until this is on the screen.
    #[track_caller]
    pub(crate) fn see(&self, text: &str) {
        wait_until(&format!("the screen says {text:?}"), || read(&self.screen).contains(text));
    }

    /// Types a line.
    pub(crate) fn answer(&mut self, line: &str) {
        self.press(&format!("{line}\n"));
    }

    /// Presses keys.
    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end: its exit code, and everything that was on the screen.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let code = self.program.wait();
        self.reader.join().unwrap();
        (code, read(&self.screen))
    }
}

fn read(screen: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&screen.lock().unwrap()).into_owned()
}

/// Both ends of a new terminal. It never becomes that of the tests themselves.
fn pair() -> (File, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    fcntl_setfd(&ours, FdFlags::CLOEXEC).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs =
        open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    tcsetwinsize(&theirs, Winsize { ws_row: 40, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    (File::from(ours), File::from(theirs))
}
