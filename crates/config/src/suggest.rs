//! What somebody may have meant.

/// The word that is nearest to a text, if it is near enough for a typing error.
#[must_use]
pub fn nearest<'w>(text: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let (distance, word) = words.into_iter().map(|word| (distance(text, word), word)).min()?;
    (distance <= text.chars().count().max(word.chars().count()).div_ceil(3)).then_some(word)
}

/// How many characters have to be put in, left out or changed to make one of the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, left) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, right) in to.iter().enumerate() {
            let changed = diagonal + usize::from(left != *right);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_has_to_be_changed() {
        for (from, to, expected) in [
            ("", "", 0),
            ("lease", "lease", 0),
            ("leese", "lease", 1),
            ("batchsize", "batch", 4),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
        ] {
            assert_eq!(distance(from, to), expected, "{from} → {to}");
            assert_eq!(distance(to, from), expected, "{to} → {from}");
        }
    }

    #[test]
    fn only_what_is_near_is_suggested() {
        let words = ["lease", "batch", "poll_min", "poll_max"];
        for (text, expected) in [
            ("leas", Some("lease")),
            ("pol_max", Some("poll_max")),
            ("batches", Some("batch")),
            ("colour", None),
        ] {
            assert_eq!(nearest(text, words), expected, "{text}");
        }
        assert_eq!(nearest("x", []), None);
    }
}
