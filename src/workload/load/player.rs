//! A client's script machine in the form in which a driver wants it.

use std::time::Duration;

use super::{Cell, Options};
use crate::engine::{Param, Table};
use crate::error::Result;
use crate::sql::Dialect;

/// What a script does next.
pub(super) enum Move {
    Send,
    Sleep(Duration),
    OpenPipeline,
    SyncPipeline,
    ClosePipeline,
    Finished,
}

/// A statement of the mix.
pub(super) struct Prepared {
    pub text: String,
    pub shown: String,
}

/// All statements of a mix, numbered through.
pub(super) struct Catalogue {
    statements: Vec<Prepared>,
    names: Vec<String>,
}

impl Catalogue {
    pub fn new(_options: &Options, _cell: Cell, dialect: Dialect) -> Result<Self> {
        let text = match dialect {
            Dialect::Postgres => "INSERT INTO tuples (client, number, note) VALUES (0, $1, $2)",
            _ => "INSERT INTO tuples (client, number, note) VALUES (0, ?, ?)",
        };
        Ok(Catalogue {
            statements: vec![Prepared {
                text: text.to_string(),
                shown: text.to_string(),
            }],
            names: vec!["s0".to_string()],
        })
    }
    pub fn statements(&self) -> &[Prepared] {
        &self.statements
    }
    pub fn names(&self) -> &[String] {
        &self.names
    }
    pub fn scripts(&self) -> usize {
        1
    }
    pub fn player(&self, client: u32) -> Player {
        Player {
            client,
            at: 0,
            text: String::new(),
        }
    }
}

/// One client's machine.
pub(super) struct Player {
    client: u32,
    at: u32,
    text: String,
}

impl Player {
    pub fn begin(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }
    pub fn next(&mut self) -> Result<Move> {
        self.at += 1;
        Ok(match self.at {
            1 => Move::Send,
            _ => Move::Finished,
        })
    }
    pub fn retry(&mut self) -> Result<()> {
        self.begin()
    }
    pub fn script(&self) -> usize {
        0
    }
    pub fn statement(&self) -> usize {
        0
    }
    pub fn statement_text(&self) -> String {
        "INSERT INTO tuples".to_string()
    }
    pub fn wants_rows(&self) -> bool {
        false
    }
    pub fn received(&mut self, _results: &[Table]) -> Result<()> {
        Ok(())
    }
    pub fn simple_text(&mut self) -> &str {
        self.text = format!(
            "INSERT INTO tuples (client, number, note) VALUES ({}, 1, 'x')",
            self.client
        );
        &self.text
    }
    pub fn params(&self) -> impl Iterator<Item = Param<'_>> {
        [Param::Int(i64::from(self.client)), Param::Text("x")].into_iter()
    }
    pub fn with_params<R>(&self, f: impl FnOnce(&[Param<'_>]) -> R) -> R {
        let params: Vec<Param<'_>> = self.params().collect();
        f(&params)
    }
}
