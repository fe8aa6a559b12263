//! What every log decides in the same way, whatever database it is in: for those who write one.
//!
//! Everything here is pure. A driver asks its database, and takes from here what to make of the answer, so that all databases refuse,
//! fill and repeat alike and say it in the same words.

mod defects;
mod filling;
mod layout;
pub mod refuse;
mod rounds;

pub use self::{
    defects::Defects,
    filling::Filling,
    layout::{Layout, unusable},
    rounds::{Round, rounds},
};
