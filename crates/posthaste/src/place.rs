//! Where the tables of an outbox are, and how they are reached.

/// Where the tables of an outbox are in their database, and how an application reaches them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The schema, where a database has such; none leaves it to the connection's search path.
    pub schema: Option<String>,
    /// What the names of the tables begin with.
    pub prefix: String,
    /// Whether connections go through a pooler in transaction mode: then no statement is kept ready on them, because the next transaction
    /// may meet another session of the server.
    pub pooler: bool,
}
