//! `diesel_async::AsyncPgConnection`, inside `transaction(…)`.

use diesel_async::{AsyncConnection, AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use posthaste::{ErrorKind, Staged, postgres::InTransaction};

use crate::fixture::{Shop, Trouble, event, expect_repeat, once};

async fn connect(shop: &Shop) -> AsyncPgConnection {
    AsyncPgConnection::establish(&shop.database.url()).await.unwrap()
}

async fn insert(connection: &mut AsyncPgConnection) -> Result<(), Trouble> {
    diesel::sql_query("insert into users values ('Ada')").execute(connection).await?;
    Ok(())
}

#[tokio::test]
async fn what_commits_is_delivered() {
    let shop = Shop::open().await;
    let mut connection = connect(&shop).await;

    let staged = connection
        .transaction(async |connection| -> Result<Vec<Staged>, Trouble> {
            insert(connection).await?;
            let first = shop.outbox.publish(&mut InTransaction::of(connection)?, event()).await?;
            let many = [event().key("k"), event().key("k")];
            let many = shop.outbox.publish_many(&mut InTransaction::of(connection)?, many).await?;
            Ok(vec![first, many])
        })
        .await
        .unwrap();
    let ids = staged.iter().flat_map(Staged::published).map(|published| published.id).collect();
    staged.into_iter().for_each(Staged::dispatch);

    shop.expect(ids, 1).await;
}

#[tokio::test]
async fn what_is_rolled_back_is_not_delivered() {
    let shop = Shop::open().await;
    let mut connection = connect(&shop).await;

    let answer: Result<(), Trouble> = connection
        .transaction(async |connection| {
            insert(connection).await?;
            let many = [event(), event()];
            shop.outbox.publish_many(&mut InTransaction::of(connection)?, many).await?.dispatch();
            Err("declined".into())
        })
        .await;

    assert_eq!(answer.unwrap_err().to_string(), "declined");
    shop.expect(Vec::new(), 0).await;
}

#[tokio::test]
async fn a_repeat_leaves_the_transaction_usable() {
    let shop = Shop::open().await;
    let mut connection = connect(&shop).await;

    let first = connection
        .transaction(async |connection| -> Result<Staged, Trouble> {
            let first = shop.outbox.publish(&mut InTransaction::of(connection)?, once()).await?;
            let repeat = shop.outbox.publish(&mut InTransaction::of(connection)?, once()).await?;
            expect_repeat(&first, &repeat);
            insert(connection).await?;
            Ok(first)
        })
        .await
        .unwrap();
    let ids = vec![first.id()];
    first.dispatch();

    shop.expect(ids, 1).await;
}

#[tokio::test]
async fn a_connection_without_a_transaction_is_refused() {
    let shop = Shop::open().await;
    let mut connection = connect(&shop).await;

    let before = InTransaction::of(&mut connection).err().expect("there is no transaction");
    connection.transaction(async |connection| insert(connection).await).await.unwrap();
    let after = InTransaction::of(&mut connection).err().expect("there is no transaction any more");

    for error in [before, after] {
        assert_eq!(error.kind(), ErrorKind::Refused);
        assert!(error.to_string().contains("no transaction is open on this connection"), "{error}");
    }
    shop.expect(Vec::new(), 1).await;
}

#[tokio::test]
async fn says_what_the_database_refuses() {
    let shop = Shop::open().await;
    let mut connection = connect(&shop).await;
    connection.batch_execute("create schema empty; set search_path = empty").await.unwrap();

    let answer: Result<(), Trouble> = connection
        .transaction(async |connection| {
            shop.outbox.publish(&mut InTransaction::of(connection)?, event()).await?.dispatch();
            Ok(())
        })
        .await;

    let error = answer.unwrap_err().downcast::<posthaste::Error>().unwrap();
    assert!(error.chain().contains("relation \"outbox\" does not exist"), "{}", error.chain());
    shop.expect(Vec::new(), 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::disallowed_methods, reason = "that it can be spawned is what is tested")]
async fn works_in_a_spawned_task() {
    let shop = Shop::open().await;
    let mut connection = connect(&shop).await;
    let outbox = shop.outbox.clone();

    let task = tokio::spawn(async move {
        connection
            .transaction(async |connection| -> Result<Staged, Trouble> {
                Ok(outbox.publish(&mut InTransaction::of(connection)?, event()).await?)
            })
            .await
    });

    let staged = task.await.unwrap().unwrap();
    let ids = vec![staged.id()];
    staged.dispatch();
    shop.expect(ids, 0).await;
}
