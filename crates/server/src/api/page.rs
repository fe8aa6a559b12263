//! A page of a listing, as callers see it.

use posthaste::Paged;
use serde::Serialize;
use utoipa::ToSchema;

use crate::cursor::{self, Listing};

/// A page of a listing.
#[derive(Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// What is on it.
    pub(crate) items: Vec<T>,
    /// The `cursor` of the next page; none if this is the last one. A page can be short, or empty, and still have one: a search for
    /// something rare looks at so many rows at a time.
    #[schema(example = "ZQAAAAAAAAAq")]
    pub(crate) next: Option<String>,
}

impl<T> Page<T> {
    pub(crate) fn of<R>(listing: Listing, page: Paged<R>, view: impl Fn(R) -> T) -> Self {
        Self {
            items: page.items.into_iter().map(view).collect(),
            next: page.next.map(|row| cursor::write(listing, row)),
        }
    }
}
