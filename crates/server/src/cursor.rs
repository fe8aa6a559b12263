//! Where the next page begins, as callers see it: a text that says nothing and fits one listing only.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// Which listing a cursor belongs to: one of another listing is refused, instead of meaning something else there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Events.
    Events,
    /// The events of one key.
    Key,
    /// Dead letters.
    DeadLetters,
    /// What operators did.
    Audit,
}

impl Listing {
    fn mark(self) -> u8 {
        match self {
            Listing::Events => b'e',
            Listing::Key => b'k',
            Listing::DeadLetters => b'd',
            Listing::Audit => b'a',
        }
    }
}

/// The cursor of a listing that goes on behind this row.
#[must_use]
pub fn write(listing: Listing, row: i64) -> String {
    let mut bytes = vec![listing.mark()];
    bytes.extend(row.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The row behind which a listing goes on.
#[must_use]
pub fn read(listing: Listing, text: &str) -> Option<i64> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (mark, row) = bytes.split_first()?;
    let row = i64::from_be_bytes(row.try_into().ok()?);
    // Rows are numbered from 1.
    (*mark == listing.mark() && row > 0).then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_fits_its_own_listing_only() {
        let listings = [Listing::Events, Listing::Key, Listing::DeadLetters, Listing::Audit];
        for listing in listings {
            for other in listings {
                let row = read(other, &write(listing, 42));
                assert_eq!(row, (listing == other).then_some(42), "{listing:?} {other:?}");
            }
        }
        let long = write(Listing::Events, 1) + "AA";
        for bad in
            ["", "42", "%", "ZZZZZZZZZZZZ", &long, &write(Listing::Events, 0), &write(Listing::Events, -1)]
        {
            assert_eq!(read(Listing::Events, bad), None, "{bad}");
        }
    }
}
