//! Listings in pages: where to begin, how many, and how to go on.

use clap::Args;
use posthaste::{Paged, Result};
use posthaste_server::cursor::{self, Listing};

use crate::{
    desk::Desk,
    exit::{Coded, judged},
    screen::remark,
};

/// The largest page that a log gives.
const MAX_PAGE: u32 = 1_000;

#[derive(Args)]
#[group(skip)]
pub(crate) struct Options {
    /// How many at most, 1 to 1000
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PAGE)))]
    limit: u32,
    /// Where to go on, as the page before has told
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
    /// Everything, not only a page
    #[arg(long, conflicts_with_all = ["limit", "cursor"])]
    all: bool,
}

/// Where a page is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) cursor: Option<i64>,
    pub(crate) limit: u32,
}

impl Options {
    /// Everything there is, whatever the command line says.
    pub(crate) fn whole() -> Self {
        Self { limit: MAX_PAGE, cursor: None, all: true }
    }

    /// Asks for pages until there are enough, and shows each. A page may be short, or empty, without being the last: a search for
    /// something rare looks at so many rows at a time. Answers where to go on.
    pub(crate) async fn walk<T>(
        &self,
        listing: Listing,
        mut ask: impl AsyncFnMut(Ask) -> Result<Paged<T>>,
        mut show: impl FnMut(Vec<T>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Option<String>> {
        let mut cursor = self.begin(listing)?;
        let mut wanted = self.limit;
        loop {
            let limit = if self.all { MAX_PAGE } else { wanted };
            let page = ask(Ask { cursor, limit }).await.map_err(judged)?;
            let count = u32::try_from(page.items.len()).unwrap_or(u32::MAX);
            if count > 0 {
                show(page.items)?;
            }
            wanted = wanted.saturating_sub(count);
            cursor = page.next;
            match cursor {
                None => return Ok(None),
                Some(row) if !self.all && wanted == 0 => return Ok(Some(cursor::write(listing, row))),
                Some(_) => {}
            }
        }
    }

    fn begin(&self, listing: Listing) -> anyhow::Result<Option<i64>> {
        let Some(text) = &self.cursor else { return Ok(None) };
        match cursor::read(listing, text) {
            Some(row) => Ok(Some(row)),
            None => Err(Coded::not_understood(format!(
                "--cursor {text:?} is none of this listing; write what the page before has told"
            ))),
        }
    }
}

/// Says that there is more, and how to see it.
pub(crate) fn tell_next(desk: &Desk, next: Option<&String>) {
    let Some(next) = next else { return };
    let text = format!("there is more: add --cursor {next}, or --all\n");
    remark(&if desk.json { text } else { format!("\n{text}") });
}
