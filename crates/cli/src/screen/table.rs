//! Tables that fit the screen: where they are too wide, the columns that can be cut are.

use super::{Look, cut, tame};

/// What stands between two columns.
const GAP: usize = 2;

/// A column of a table.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    title: &'static str,
    is_number: bool,
    /// How narrow it may become; none if it is never cut.
    least: Option<usize>,
}

impl Column {
    /// Text that is never cut.
    pub(crate) const fn text(title: &'static str) -> Self {
        Self { title, is_number: false, least: None }
    }

    /// Text that may be cut, but not to fewer characters than these.
    pub(crate) const fn flexible(title: &'static str, least: usize) -> Self {
        Self { title, is_number: false, least: Some(least) }
    }

    /// A number, at the right.
    pub(crate) const fn number(title: &'static str) -> Self {
        Self { title, is_number: true, least: None }
    }
}

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tone {
    Plain,
    Good,
    Warning,
    Bad,
    Faint,
}

/// What stands in a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: tame(text.as_ref()), tone: Tone::Plain }
    }

    /// What may not be there.
    pub(crate) fn maybe(text: Option<impl AsRef<str>>) -> Self {
        text.map_or_else(|| Self::new("-").faint(), Self::new)
    }

    pub(crate) fn good(self) -> Self {
        Self { tone: Tone::Good, ..self }
    }

    pub(crate) fn warning(self) -> Self {
        Self { tone: Tone::Warning, ..self }
    }

    pub(crate) fn bad(self) -> Self {
        Self { tone: Tone::Bad, ..self }
    }

    pub(crate) fn faint(self) -> Self {
        Self { tone: Tone::Faint, ..self }
    }

    fn draw(&self, column: &Column, width: usize, look: Look) -> String {
        let text = cut(&self.text, width);
        let text = if column.is_number { format!("{text:>width$}") } else { format!("{text:<width$}") };
        match self.tone {
            Tone::Plain => text,
            Tone::Good => look.good(text).to_string(),
            Tone::Warning => look.warning(text).to_string(),
            Tone::Bad => look.bad(text).to_string(),
            Tone::Faint => look.faint(text).to_string(),
        }
    }
}

/// A table.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    has_title: bool,
}

impl Table {
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new(), has_title: true }
    }

    /// One that goes on where another ended.
    pub(crate) fn without_title(mut self) -> Self {
        self.has_title = false;
        self
    }

    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }

    /// The whole table, for a screen that has so many columns.
    pub(crate) fn render(&self, look: Look, columns: usize) -> String {
        let widths = self.widths(columns);
        let title: Vec<Cell> = self.columns.iter().map(|column| Cell::new(column.title).faint()).collect();
        let title = self.has_title.then_some(&title);
        let lines = title.into_iter().chain(&self.rows);
        lines.map(|cells| self.line(cells, &widths, look)).collect()
    }

    fn line(&self, cells: &[Cell], widths: &[usize], look: Look) -> String {
        let drawn = self.columns.iter().zip(widths).zip(cells);
        let drawn: Vec<String> =
            drawn.map(|((column, width), cell)| cell.draw(column, *width, look)).collect();
        let line = drawn.join(&" ".repeat(GAP));
        // What is coloured ends with its colour, and nobody sees the spaces before it.
        format!("{}\n", line.trim_end())
    }

    /// How wide each column is. The widest of those that may be cut gives way first.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.columns.len()).map(|index| self.natural(index)).collect();
        let gaps = GAP * self.columns.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > columns {
            let may_shrink = |index: &usize| {
                let least = self.columns[*index].least;
                least.is_some_and(|least| widths[*index] > least)
            };
            let widest = (0..widths.len()).filter(may_shrink).max_by_key(|index| widths[*index]);
            let Some(widest) = widest else { break };
            widths[widest] -= 1;
        }
        widths
    }

    /// As wide as its widest cell.
    fn natural(&self, index: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.text.chars().count());
        let title = if self.has_title { self.columns[index].title.chars().count() } else { 0 };
        cells.chain([title]).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [Column::flexible("name", 6), Column::number("count"), Column::flexible("error", 8)];
        let mut table = Table::new(&columns);
        table.row([Cell::new("mail"), Cell::new("7"), Cell::new("connection refused\nby the peer").bad()]);
        table.row([Cell::new("billing-of-all-orders"), Cell::new("1,204"), Cell::maybe(None::<&str>)]);
        table
    }

    #[test]
    fn a_table_that_fits_is_not_cut() {
        let text = table().render(Look::Plain, 80);
        let expected = "\
name                   count  error
mail                       7  connection refused by the peer
billing-of-all-orders  1,204  -
";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_may_be_cut_is_cut_until_it_fits() {
        for columns in [60, 40, 30, 23] {
            let text = table().render(Look::Plain, columns);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}\n{text}");
            assert!(text.contains("1,204"), "numbers never are\n{text}");
        }
        let least = table().render(Look::Plain, 1);
        assert!(least.contains("billi…") && least.contains("connect…"), "{least}");
    }

    #[test]
    fn colours_change_no_width() {
        let plain = table().render(Look::Plain, 40);
        let coloured = table().render(Look::Coloured, 40);
        let stripped =
            ["\x1b[1;31m", "\x1b[2m", "\x1b[0m"].iter().fold(coloured, |text, code| text.replace(code, ""));
        let trim = |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(trim(&plain), trim(&stripped));
    }
}
