//! The one client of a phase: its session, what its server can do, and its texts.

use super::{Options, drop_leftover};
use crate::engine::Session;
use crate::error::{Context, Error, Result, bail};
use crate::sql::{Dialect, Limits, Table, Texts};
use crate::workload::operation::untimed;
use crate::workload::{Bench, Op};

pub(super) struct Client {
    session: Box<dyn Session>,
    pub texts: Texts,
    pub limits: Limits,
    /// The suite's `--fast`.
    pub fast: bool,
}

impl Client {
    pub fn connect(
        bench: &mut Bench<'_>,
        phase: &'static str,
        options: &Options,
    ) -> Result<Client> {
        Ok(Client::new(bench.connect()?, phase, options))
    }

    pub fn new(session: Box<dyn Session>, phase: &'static str, options: &Options) -> Client {
        Client {
            texts: Texts::of(phase, session.dialect()),
            limits: Limits::of(session.dialect()),
            fast: options.fast,
            session,
        }
    }

    pub fn session(&mut self) -> &mut dyn Session {
        self.session.as_mut()
    }

    pub fn dialect(&self) -> Dialect {
        self.session.dialect()
    }

    /// Runs a statement that belongs to no operation.
    pub fn untimed(&mut self, sql: &str) -> Result<()> {
        untimed(self.session.as_mut(), sql).map(drop)
    }

    /// The first field of the first row, outside the windows; `None` from an engine that
    /// pretends, and for no row or NULL.
    pub fn value(&mut self, sql: &str) -> Result<Option<String>> {
        let rows = self
            .session
            .values(sql)
            .map_err(Error::new)
            .with_context(|| format!("a check failed: {sql}"))?;
        Ok(rows.into_iter().flatten().next().flatten())
    }

    /// Checks what a query of one number gives, outside the windows.
    pub fn check(&mut self, sql: &str, expected: u64) -> Result<()> {
        let found = self.value(sql)?;
        if self.session.answers() && found.as_deref() != Some(&expected.to_string()) {
            let found = found.as_deref().unwrap_or("nothing");
            bail!("a check gives {found}, expected {expected}: {sql}");
        }
        Ok(())
    }

    /// Makes a table, outside the windows.
    pub fn create(&mut self, name: &str, table: &Table) -> Result<()> {
        for sql in table.create(name, self.dialect()) {
            self.untimed(&sql)?;
        }
        Ok(())
    }

    /// Drops a table, outside the windows.
    pub fn drop(&mut self, table: &str) -> Result<()> {
        self.untimed(&format!("DROP TABLE {table}"))
    }

    /// Drops what an earlier run may have left.
    pub fn drop_leftovers(&mut self, tables: &[&str]) -> Result<()> {
        tables
            .iter()
            .try_for_each(|table| drop_leftover(self.session.as_mut(), table))
    }

    /// True where bulk operations are one transaction.
    fn transacts(&self) -> bool {
        self.fast && self.limits.transactions
    }

    /// With `--fast`, opens the transaction of a bulk operation inside its window.
    pub fn begin(&mut self, op: &mut Op<'_, '_>) -> Result<()> {
        if self.transacts() {
            op.uncounted("begin", || self.session.begin())?;
        }
        Ok(())
    }

    /// Commits what [`begin`](Client::begin) opened.
    pub fn commit(&mut self, op: &mut Op<'_, '_>) -> Result<()> {
        if self.transacts() {
            op.uncounted("commit", || self.session.commit())?;
        }
        Ok(())
    }

    /// True where `--fast` loads tables from files.
    pub fn loads(&self) -> bool {
        self.fast && self.limits.load_data_infile
    }

    /// Loads a table from `lines`, so many value lists, as one statement.
    pub fn load(
        &mut self,
        op: &mut Op<'_, '_>,
        table: &str,
        (lines, rows): (&str, u64),
    ) -> Result<()> {
        let sql = format!(
            "LOAD DATA LOCAL INFILE '{table}' INTO TABLE {table} \
             FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\\''"
        );
        op.load_rows(self.session.as_mut(), &sql, (table, lines), rows)
    }

    /// With `--fast`, locks `tables` ("a WRITE, b READ") where the server locks tables.
    pub fn lock(&mut self, tables: &str) -> Result<()> {
        if self.fast && self.limits.lock_tables {
            self.untimed(&format!("LOCK TABLES {tables}"))?;
        }
        Ok(())
    }

    /// Gives back what [`lock`](Client::lock) took.
    pub fn unlock(&mut self) -> Result<()> {
        if self.fast && self.limits.lock_tables {
            self.untimed("UNLOCK TABLES")?;
        }
        Ok(())
    }

    /// With `--fast`, the suite's vacuum as the operation `book-keeping`. MySQL optimizes
    /// the tables named, if any; PostgreSQL vacuums them or the whole database, between
    /// two new connections. Inside the window: those statements.
    pub fn vacuum(&mut self, bench: &mut Bench<'_>, tables: &[&str]) -> Result<()> {
        if !self.fast || !self.limits.vacuum {
            return Ok(());
        }
        let statements = match self.dialect() {
            Dialect::Sqlite => return Ok(()),
            Dialect::Mysql | Dialect::Mariadb if tables.is_empty() => return Ok(()),
            Dialect::Mysql | Dialect::Mariadb => {
                vec![format!("OPTIMIZE TABLE {}", tables.join(","))]
            }
            Dialect::Postgres if tables.is_empty() => {
                vec!["VACUUM ANALYZE".into(), "VACUUM".into()]
            }
            Dialect::Postgres => tables
                .iter()
                .flat_map(|t| [format!("VACUUM ANALYZE {t}"), format!("VACUUM {t}")])
                .collect(),
        };
        let reconnects = self.dialect() == Dialect::Postgres;
        if reconnects {
            self.session = bench.connect()?;
        }
        let mut op = bench.start("book-keeping", 1)?;
        op.print_count(1);
        for sql in &statements {
            op.execute(self.session.as_mut(), sql)?;
        }
        op.finish()?;
        if reconnects {
            self.session = bench.connect()?;
        }
        Ok(())
    }
}
