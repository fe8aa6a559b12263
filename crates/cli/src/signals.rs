//! Being asked to stop: Ctrl-C, or SIGTERM from whatever supervises the program. Or to read a file again: SIGHUP.

use anyhow::{Context, Result};

/// Tells when the program is asked to stop, each time anew.
pub(crate) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    /// From here on the signals no longer end the program by themselves.
    #[cfg(unix)]
    pub(crate) fn watch() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let watch = |kind| signal(kind).context("cannot watch for signals");
        Ok(Self { terminate: watch(SignalKind::terminate())?, interrupt: watch(SignalKind::interrupt())? })
    }

    #[cfg(not(unix))]
    pub(crate) fn watch() -> Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next signal and names it.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            // Without signals only the supervisor's force ends the program; that loses nothing.
            Err(_) => std::future::pending().await,
        }
    }
}

/// Tells when the program is asked to read its file again.
pub(crate) struct Hangups {
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Hangups {
    /// From here on SIGHUP no longer ends the program.
    pub(crate) fn watch() -> Result<Self> {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let hangup = signal(SignalKind::hangup()).context("cannot watch for signals")?;
            Ok(Self { hangup: Some(hangup) })
        }
        #[cfg(not(unix))]
        Ok(Self {})
    }

    /// Where there is no file to read again, SIGHUP ends the program, as it does others.
    pub(crate) fn ignored() -> Self {
        Self {
            #[cfg(unix)]
            hangup: None,
        }
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(hangup) = &mut self.hangup
            && hangup.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}
