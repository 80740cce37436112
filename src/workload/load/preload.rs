//! The data that a load starts with: made once, before the snapshot is taken, by a
//! server of its own that need not be durable.

use super::databases::share;
use super::schema;
use super::script::Schema;
use crate::engine::{Address, Session, Settings, connect};
use crate::error::{Context, Error, Result};
use crate::sql::Dialect;

/// What is to be there; part of what makes one snapshot another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Preload {
    /// Databases over which it is spread.
    pub databases: u32,
    /// Tables of which scripts, and how many rows or branches over all databases.
    pub schemas: Vec<(Schema, u64)>,
    /// sysbench's number of tables.
    pub tables: u32,
}

/// Settings with which a server fills its tables: nothing of it is measured, and what
/// comes of it is flushed as a whole when it is packed.
pub fn fast(dialect: Dialect) -> Settings {
    let settings: &[(&str, &str)] = match dialect {
        Dialect::Postgres => &[
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("synchronous_commit", "off"),
            ("wal_level", "minimal"),
            ("max_wal_senders", "0"),
            ("archive_mode", "off"),
            ("autovacuum", "off"),
            ("checkpoint_timeout", "1d"),
            ("max_wal_size", "16GB"),
            ("maintenance_work_mem", "256MB"),
            // Left-over segments would be packed, and used up before new ones are made.
            ("wal_recycle", "off"),
        ],
        Dialect::Mysql | Dialect::Mariadb => &[
            ("innodb_flush_log_at_trx_commit", "0"),
            ("sync_binlog", "0"),
        ],
        Dialect::Sqlite => &[("synchronous", "off")],
    };
    settings
        .iter()
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect()
}

impl Preload {
    /// Fills the databases beside `address`, which is the first of them. Afterwards nothing
    /// is left to be cleaned up or written back by the server.
    ///
    /// # Errors
    /// The engine's words.
    pub fn fill(&self, address: &Address) -> Result<()> {
        let mut first = connect(address)
            .map_err(Error::new)
            .context("cannot connect to the server")?;
        match first.dialect() {
            Dialect::Postgres => self.fill_by_copies(address, first.as_mut())?,
            Dialect::Mysql | Dialect::Mariadb => {
                for index in 1..self.databases {
                    create_database(first.as_mut(), &name(address, index))?;
                }
                self.fill_each(address)?;
            }
            Dialect::Sqlite => self.fill_each(address)?,
        }
        first
            .checkpoint()
            .map_err(Error::new)
            .context("the WAL checkpoint after filling failed")
    }

    fn fill_each(&self, address: &Address) -> Result<()> {
        for index in 0..self.databases {
            let mut session = connect(&address.of_database(index)).map_err(Error::new)?;
            self.fill_one(session.as_mut(), index)?;
            if session.dialect() == Dialect::Sqlite {
                session.checkpoint().map_err(Error::new)?;
            }
        }
        Ok(())
    }

    fn fill_one(&self, session: &mut dyn Session, index: u32) -> Result<()> {
        for (schema, total) in &self.schemas {
            let amount = share(*total, self.databases, index);
            schema::make(*schema, session, amount, self.tables)
                .with_context(|| format!("cannot fill database {index}"))?;
        }
        Ok(())
    }

    /// PostgreSQL: the last database, which has the smaller share, is filled; copies of it
    /// are copies of files. Those with one more are copies of the first.
    fn fill_by_copies(&self, address: &Address, first: &mut dyn Session) -> Result<()> {
        let last = self.databases - 1;
        if last == 0 {
            self.fill_one(first, 0)?;
            return vacuum(first);
        }
        // Copies of the database that a session is in cannot be made.
        let strategy = copy_strategy(first)?;
        create_database(first, &name(address, last))?;
        {
            let mut session = connect(&address.of_database(last)).map_err(Error::new)?;
            self.fill_one(session.as_mut(), last)?;
            vacuum(session.as_mut())?;
        }
        let copy = |session: &mut dyn Session, from: u32, to: u32| {
            let sql = format!(
                "CREATE DATABASE {} TEMPLATE {}{strategy}",
                name(address, to),
                name(address, from)
            );
            session.execute(&sql).map_err(Error::new)
        };
        // The first database is where sessions of ours are: it is filled in its place.
        self.fill_one(first, 0)?;
        vacuum(first)?;
        let mut more: Option<u32> = None;
        for index in 1..last {
            let same = |other: u32| {
                self.schemas.iter().all(|(_, total)| {
                    share(*total, self.databases, index) == share(*total, self.databases, other)
                })
            };
            if same(last) {
                copy(first, last, index)?;
            } else if let Some(from) = more.filter(|from| same(*from)) {
                copy(first, from, index)?;
            } else {
                create_database(first, &name(address, index))?;
                let mut session = connect(&address.of_database(index)).map_err(Error::new)?;
                self.fill_one(session.as_mut(), index)?;
                vacuum(session.as_mut())?;
                more = Some(index);
            }
        }
        Ok(())
    }
}

/// The name of a database beside `address`.
fn name(address: &Address, index: u32) -> String {
    match address.of_database(index) {
        Address::Postgres { database, .. } | Address::Mysql { database, .. } => database,
        Address::Sqlite { file, .. } => file,
        Address::Null { .. } | Address::None => String::new(),
    }
}

fn create_database(session: &mut dyn Session, name: &str) -> Result<()> {
    let template = match session.dialect() {
        Dialect::Postgres => format!(" TEMPLATE template0{}", copy_strategy(session)?),
        _ => String::new(),
    };
    session
        .execute(&format!("CREATE DATABASE {name}{template}"))
        .map_err(Error::new)
        .with_context(|| format!("cannot create database {name}"))?;
    Ok(())
}

/// Copying files is three times as fast as copying through the WAL, where there is a
/// choice (since version 15).
fn copy_strategy(session: &mut dyn Session) -> Result<&'static str> {
    let rows = session
        .values("SELECT current_setting('server_version_num')::int >= 150000")
        .map_err(Error::new)?;
    let can = rows.first().and_then(|row| row.first()?.as_deref()) == Some("t");
    Ok(if can { " STRATEGY file_copy" } else { "" })
}

/// Belongs before the snapshot: after a restore it would warm the cache and dirty it.
fn vacuum(session: &mut dyn Session) -> Result<()> {
    session
        .execute("VACUUM (FREEZE, ANALYZE)")
        .map_err(Error::new)
        .context("cannot vacuum")?;
    Ok(())
}
