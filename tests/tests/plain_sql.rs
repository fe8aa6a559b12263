//! `docs/plain-sql.md` is true: what it says about columns and words is so, every statement on it runs, and every
//! mistake on it fails as it says.
//!
//! A block marked `sql` runs. In one marked `sql fails` the database refuses each statement, and in one marked
//! `sql dead` each becomes a dead letter, both with the words of the comment below it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeSet, fs, path::Path, sync::Arc, time::Duration};

use posthaste::{Event, Outbox, StatusWord, Subscription, SubscriptionStatus};
use sqlx::{AssertSqlSafe, ConnectOptions, Row, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;
use tokio::{sync::mpsc, time::timeout};

/// The subscription that the page speaks of.
const SUBSCRIPTION: &str = "default";
/// Far longer than anything takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn page() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join("docs/plain-sql.md")).unwrap()
}

/// All blocks with exactly this behind their fence, in order.
fn blocks(page: &str, marked: &str) -> Vec<String> {
    let parts: Vec<&str> = page.split("```").collect();
    assert_eq!(parts.len() % 2, 1, "every block is closed");
    let blocks = parts.iter().skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.filter(|(mark, _)| *mark == marked).map(|(_, text)| text.to_owned()).collect()
}

/// The statements of a block, each with the words of the comment below it.
fn mistakes(page: &str, marked: &str) -> Vec<(String, String)> {
    let mut mistakes = Vec::new();
    for block in blocks(page, marked) {
        let mut statement = String::new();
        for line in block.lines() {
            match line.strip_prefix("-- ") {
                Some(words) => mistakes.push((std::mem::take(&mut statement), words.to_owned())),
                None => statement.push_str(line),
            }
        }
        assert_eq!(statement, "", "a mistake without words");
    }
    assert!(!mistakes.is_empty(), "the page has blocks marked {marked:?}");
    mistakes
}

/// The cells of the table that begins with this row.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let rows = page.lines().skip_while(|line| *line != heading).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    let rows: Vec<Vec<String>> = rows.map(cells).collect();
    assert!(!rows.is_empty(), "the page has a table {heading:?}");
    rows
}

/// Every word in backticks.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// An outbox in a file of its own, and a connection to it as any program has one.
struct Shop {
    outbox: Outbox,
    connection: SqliteConnection,
    _folder: TempDir,
}

impl Shop {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        let outbox = Outbox::open(&format!("sqlite://{}", path.display())).await.unwrap();
        let connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
        Self { outbox, connection, _folder: folder }
    }

    async fn run(&mut self, sql: &str) -> sqlx::Result<()> {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut self.connection).await.map(drop)
    }

    /// Rows of texts; what is null is empty.
    async fn ask(&mut self, sql: &'static str) -> Vec<Vec<String>> {
        let rows = sqlx::query(sql).fetch_all(&mut self.connection).await.unwrap();
        let cell = |row: &sqlx::sqlite::SqliteRow, column| {
            row.get_unchecked::<Option<String>, _>(column).unwrap_or_default()
        };
        rows.iter().map(|row| (0..row.len()).map(|column| cell(row, column)).collect()).collect()
    }

    async fn standing(&self) -> SubscriptionStatus {
        let status = self.outbox.admin().status().await.unwrap();
        status.subscriptions.into_iter().find(|found| found.name == SUBSCRIPTION).unwrap()
    }

    /// Delivers all there is; answers with what arrived, in order.
    async fn deliver(&mut self) -> Vec<Arc<Event>> {
        let (heard, mut hears) = mpsc::channel(1_000);
        let relay = self.outbox.relay().listen_as(Subscription::new(SUBSCRIPTION)).listen_all(move |event| {
            let heard = heard.clone();
            async move { Ok(heard.send(event.event()).await?) }
        });
        let relay = relay.start().await.unwrap();
        let waiting = async {
            let busy = |status: SubscriptionStatus| status.pending + status.failed > 0;
            while busy(self.standing().await) {
                // Waits for a condition.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(PATIENCE, waiting).await.expect("everything is delivered in time");
        relay.stop().await;
        let mut events = Vec::new();
        while let Ok(event) = hears.try_recv() {
            events.push(event);
        }
        events
    }
}

#[tokio::test]
async fn every_statement_does_what_the_page_says() {
    let page = page();
    let mut shop = Shop::new().await;
    for sql in blocks(&page, "sql") {
        shop.run(&sql).await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }
    for (sql, words) in mistakes(&page, "sql fails") {
        let error = shop.run(&sql).await.expect_err(&sql).to_string();
        assert!(error.contains(&words), "{error}\n{sql}");
    }
    let dead = mistakes(&page, "sql dead");
    for (sql, _) in &dead {
        shop.run(sql).await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }

    let events = shop.deliver().await;

    let standing = shop.standing().await;
    assert_eq!((standing.delayed, standing.dead), (1, dead.len() as u64), "{standing:?}");
    let found = shop.ask("select reason, error, event_type from outbox_dead order by position").await;
    for (found, (sql, words)) in found.iter().zip(&dead) {
        assert!(found[0] == "poison_message" && found[1].contains(words), "{found:?}\n{sql}");
    }
    check_arrivals(&events);
    // Once more, now that there is something to see.
    for sql in blocks(&page, "sql").iter().filter(|sql| sql.starts_with("select")) {
        shop.run(sql).await.unwrap_or_else(|error| panic!("{error}\n{sql}"));
    }
    let waiting = shop.ask("select status, event_type from outbox_status where status = 'delayed'").await;
    assert_eq!(waiting, [["delayed", "order.unpaid"]]);
}

/// What the page's inserts say is what arrives.
fn check_arrivals(events: &[Arc<Event>]) {
    let of = |event_type: &str| {
        let found: Vec<_> = events.iter().filter(|event| event.event_type == event_type).collect();
        assert_eq!(found.len(), 1, "{event_type}");
        Arc::clone(found[0])
    };
    let seventh: Vec<&str> = events
        .iter()
        .filter(|event| event.key.as_deref() == Some("7"))
        .map(|event| &*event.event_type)
        .collect();
    assert_eq!(seventh, ["order.placed", "order.shipped", "payment.made", "mail.wanted", "order.packed"]);

    let retry = of("mail.wanted").retry;
    assert_eq!((retry.max_attempts, retry.multiplier), (Some(3), Some(1.5)));
    assert_eq!((retry.base, retry.max), (Some(Duration::from_secs(1)), Some(Duration::from_secs(30))));
    assert_eq!(of("order.packed").version, Some(1));
    assert_eq!(of("label.printed").payload.as_bytes(), b"\x89PNG");
    assert_eq!(of("order.shipped").headers.len(), 1);
    assert_eq!(of("order.shipped").id.to_string(), "0190163d-8694-739b-aea5-966c26f8ad91");
    assert_eq!(of("order.shipped").occurred_at.0, 1_772_366_400_000_000);
}

#[tokio::test]
async fn every_column_is_told_with_its_default() {
    let told = table(&page(), "| column | unless given | meaning |");
    let mut shop = Shop::new().await;
    let columns = shop
        .ask(
            "select name, case
               when hidden > 0 then '**generated**'
               when pk > 0 then 'the next one'
               when dflt_value like '%''now''%' then 'now'
               when dflt_value = 'randomblob(16)' then '16 random bytes'
               when dflt_value like '''%' then '`' || dflt_value || '`'
               when dflt_value is not null then dflt_value
               when \"notnull\" then '**required**'
               else 'null'
             end
             from pragma_table_xinfo('outbox')",
        )
        .await;

    let told: Vec<Vec<String>> =
        told.into_iter().map(|row| vec![quoted(&row[0]).remove(0), row[1].clone()]).collect();
    assert_eq!(told, columns);
}

#[tokio::test]
async fn the_status_view_and_its_words_are_told() {
    let page = page();
    let mut shop = Shop::new().await;

    let columns = shop.ask("select name from pragma_table_info('outbox_status')").await;
    let told: Vec<String> =
        table(&page, "| column | meaning |").iter().flat_map(|row| quoted(&row[0])).collect();
    assert_eq!(BTreeSet::from_iter(told), BTreeSet::from_iter(columns.into_iter().flatten()));

    let words = [
        StatusWord::Pending,
        StatusWord::Failed,
        StatusWord::Delayed,
        StatusWord::Delivered,
        StatusWord::Dead,
        StatusWord::Skipped,
    ];
    let words = words.map(|word| format!("`{}`", word.as_str()));
    let told = |heading| table(&page, heading).into_iter().map(|row| row[0].clone()).collect::<Vec<_>>();
    assert_eq!(told("| `status` | the event is |"), words);
    let mapping = page.lines().find(|line| line.starts_with("| here |")).unwrap();
    assert_eq!(told(mapping), words, "each word has its row among those of other outboxes");
}
