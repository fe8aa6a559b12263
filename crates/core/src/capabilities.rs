//! What a log can do. Behaviour follows these, never a driver's name.

use crate::Lane;

/// What a log can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// How many lanes the log has, as stored when it was created.
    pub lanes: u8,
    /// Whether its doorbell rings for what other processes commit.
    pub doorbell: bool,
}

impl Capabilities {
    /// All lanes of the log, in order.
    pub fn all_lanes(&self) -> impl Iterator<Item = Lane> + use<> {
        (0..self.lanes).map(Lane)
    }
}
