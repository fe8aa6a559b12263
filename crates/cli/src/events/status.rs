//! The status of an event as people see it: a word for each subscription, in its colour.

use posthaste::{EventStatus, StatusWord};

use crate::screen::Cell;

/// Reads a word from the command line.
pub(crate) fn parse_word(text: &str) -> Result<StatusWord, String> {
    StatusWord::ALL.into_iter().find(|word| word.as_str() == text).ok_or_else(|| {
        let words = StatusWord::ALL.map(StatusWord::as_str);
        format!("allowed are {}", words.join(", "))
    })
}

/// All statuses in one cell: one word if they are the same, else one for each subscription.
pub(crate) fn cell(statuses: &[EventStatus]) -> Cell {
    let Some(first) = statuses.first() else { return Cell::maybe(None::<&str>) };
    let worst = statuses.iter().map(|status| status.status).max_by_key(|word| badness(*word));
    let worst = worst.unwrap_or(first.status);
    let text = if statuses.iter().all(|status| status.status == first.status) {
        word(statuses)
    } else {
        let each =
            statuses.iter().map(|one| format!("{} {}", one.subscription, word(std::slice::from_ref(one))));
        each.collect::<Vec<_>>().join(", ")
    };
    paint(Cell::new(text), worst)
}

/// A cell in the colour of a status.
pub(crate) fn paint(cell: Cell, word: StatusWord) -> Cell {
    match word {
        StatusWord::Delivered => cell.good(),
        StatusWord::Failed => cell.warning(),
        StatusWord::Dead => cell.bad(),
        StatusWord::Skipped | StatusWord::Delayed => cell.faint(),
        StatusWord::Pending | StatusWord::Processing => cell,
    }
}

fn word(statuses: &[EventStatus]) -> String {
    let Some(first) = statuses.first() else { return String::new() };
    let attempts = statuses.iter().map(|status| status.attempts).max().unwrap_or_default();
    match first.status {
        StatusWord::Failed if attempts > 0 => format!("failed ({attempts}×)"),
        status => status.as_str().to_owned(),
    }
}

fn badness(word: StatusWord) -> u8 {
    match word {
        StatusWord::Skipped => 0,
        StatusWord::Delivered => 1,
        StatusWord::Delayed => 2,
        StatusWord::Pending => 3,
        StatusWord::Processing => 4,
        StatusWord::Failed => 5,
        StatusWord::Dead => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{Column, Look, Table};

    fn status(subscription: &str, status: StatusWord, attempts: u32) -> EventStatus {
        EventStatus {
            subscription: subscription.to_owned(),
            status,
            attempts,
            last_error: None,
            due_at: None,
            blocked_by: None,
        }
    }

    #[test]
    fn one_word_is_enough_where_all_agree() {
        let text = |statuses: &[EventStatus]| {
            let mut table = Table::new(&[Column::text("")]).without_title();
            table.row([cell(statuses)]);
            table.render(Look::Plain, 80)
        };
        let delivered = status("mail", StatusWord::Delivered, 0);
        assert_eq!(text(&[]), "-\n");
        assert_eq!(text(&[delivered.clone(), status("b", StatusWord::Delivered, 1)]), "delivered\n");
        let failed = status("billing", StatusWord::Failed, 3);
        assert_eq!(text(&[delivered, failed]), "mail delivered, billing failed (3×)\n");
    }

    #[test]
    fn every_word_is_read_as_it_is_shown() {
        for word in StatusWord::ALL {
            assert_eq!(parse_word(word.as_str()), Ok(word));
        }
        assert!(parse_word("done").unwrap_err().contains("delivered, dead"));
    }
}
