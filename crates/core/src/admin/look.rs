//! Which part of the log one page of events looks at, so that a search for something rare answers soon, and goes on on the next page.

use super::Sort;

/// The first and the last position that can fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first.
    pub first: i64,
    /// The last; before the first if there is none.
    pub last: i64,
}

/// A part of the log: the positions between two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Behind this one.
    pub behind: i64,
    /// Before this one.
    pub before: i64,
    /// Where to go on, if what was looked at is not all.
    pub ended_at: Option<i64>,
}

impl Look {
    /// So many positions of the extent, on from where the last page ended.
    #[must_use]
    pub fn new(extent: Extent, sort: Sort, cursor: Option<i64>, width: i64) -> Self {
        let (behind, before) = (extent.first.saturating_sub(1), extent.last.saturating_add(1));
        match sort {
            Sort::NewestFirst => {
                let before = cursor.map_or(before, |cursor| cursor.min(before));
                let edge = before.saturating_sub(width);
                if edge <= extent.first {
                    return Self { behind, before, ended_at: None };
                }
                Self { behind: edge - 1, before, ended_at: Some(edge) }
            }
            Sort::OldestFirst => {
                let behind = cursor.map_or(behind, |cursor| cursor.max(behind));
                let edge = behind.saturating_add(width);
                if edge >= extent.last {
                    return Self { behind, before, ended_at: None };
                }
                Self { behind, before: edge + 1, ended_at: Some(edge) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All positions that are looked at, page by page.
    fn walk(extent: Extent, sort: Sort) -> Vec<Vec<i64>> {
        let mut pages = Vec::new();
        let mut cursor = None;
        loop {
            let look = Look::new(extent, sort, cursor, 4);
            pages.push((look.behind + 1..look.before).collect());
            let Some(next) = look.ended_at else { return pages };
            assert_ne!(cursor, Some(next), "it goes on");
            cursor = Some(next);
        }
    }

    #[test]
    fn every_position_is_looked_at_once() {
        for last in [9, 10, 11, 12, 13, 14, 18, 19] {
            for sort in [Sort::NewestFirst, Sort::OldestFirst] {
                let pages = walk(Extent { first: 10, last }, sort);
                assert!(pages.iter().all(|page| page.len() <= 4), "{pages:?}");
                let mut all = pages.concat();
                all.sort_unstable();
                assert_eq!(all, (10..=last).collect::<Vec<_>>(), "{sort:?}");
            }
        }
    }

    #[test]
    fn a_cursor_from_elsewhere_finds_nothing_or_everything() {
        let extent = Extent { first: 10, last: 12 };
        let all = Look { behind: 9, before: 13, ended_at: None };

        assert_eq!(Look::new(extent, Sort::NewestFirst, Some(i64::MAX), 4), all);
        assert_eq!(Look::new(extent, Sort::OldestFirst, Some(1), 4), all);
        let nothing = Look::new(extent, Sort::OldestFirst, Some(i64::MAX), 4);
        assert_eq!((nothing.behind >= nothing.before, nothing.ended_at), (true, None));
    }
}
