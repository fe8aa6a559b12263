//! The doorbell: wakes every stream that waits. Rings that nobody waited for are kept as one, so nothing piles up.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures_util::Stream;

#[derive(Debug, Default)]
pub(super) struct Bell(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    rings: u64,
    last_listener: u64,
    /// At most one for each stream.
    waiting: BTreeMap<u64, Waker>,
}

impl Bell {
    pub(super) fn ring(&self) {
        let waiting = {
            let mut state = self.state();
            state.rings += 1;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_values().for_each(Waker::wake);
    }

    /// A stream that yields once after any number of rings since it last yielded, and never ends.
    pub(super) fn listen(self: &Arc<Self>) -> Listening {
        let mut state = self.state();
        state.last_listener += 1;
        Listening { bell: Arc::clone(self), listener: state.last_listener, heard: state.rings }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Listening {
    bell: Arc<Bell>,
    listener: u64,
    heard: u64,
}

impl Stream for Listening {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<()>> {
        let bell = Arc::clone(&self.bell);
        let mut state = bell.state();
        if state.rings == self.heard {
            state.waiting.insert(self.listener, context.waker().clone());
            return Poll::Pending;
        }
        self.heard = state.rings;
        Poll::Ready(Some(()))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.bell.state().waiting.remove(&self.listener);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt, StreamExt};

    use super::*;

    #[test]
    fn many_rings_are_heard_once_and_silence_is_silent() {
        let bell = Arc::new(Bell::default());
        let mut listening = bell.listen();

        assert_eq!(listening.next().now_or_never(), None);
        bell.ring();
        bell.ring();
        assert_eq!(listening.next().now_or_never(), Some(Some(())));
        assert_eq!(listening.next().now_or_never(), None);
        drop(listening);
        assert!(bell.state().waiting.is_empty(), "a stream that is gone leaves nothing behind");
    }
}
