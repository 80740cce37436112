//! What comes back to a client from outside: rows for `\gset` and `\aset`, output for
//! `\setshell`.

use std::fmt::Write;

use super::command::Word;
use super::error::RunError;
use super::machine::Machine;
use super::names::is_name;
use super::program::Act;
use super::statement::Keep;
use super::value::Value;

impl Machine {
    /// One result of the statement sent last. To be called for each result, in order, if
    /// [`Statement::keep`] is not `Nothing`: `rows` is the number of its rows (0 also for a
    /// statement that gives none), `last` says that no other result follows, `fields`
    /// are the column names and fields of its last row.
    ///
    /// # Errors
    /// `\gset` did not get one row, or a column's name cannot be a variable's.
    pub fn received<'a>(
        &mut self,
        rows: u64,
        last: bool,
        fields: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<(), RunError> {
        match self.statement().keep {
            Keep::Nothing => Ok(()),
            Keep::One if !last => Ok(()),
            Keep::One if rows != 1 => {
                Err(self.failure(format!("\\gset expects one row, got {rows}")))
            }
            Keep::All if rows == 0 => Ok(()),
            Keep::One | Keep::All => fields.into_iter().try_for_each(|(column, field)| {
                self.keep(column, field)
                    .map_err(|message| self.failure(message))
            }),
        }
    }

    fn keep(&mut self, column: &str, field: Option<&str>) -> Result<(), String> {
        let statement = &self.mix.parts[self.script].program.statements()[self.statement];
        self.name.clear();
        self.name.push_str(&statement.prefix);
        self.name.push_str(column);
        if !is_name(&self.name) {
            return Err(format!("'{}' is no name for a variable", self.name));
        }
        // A name that no script mentions is of no use to any.
        if let Some(var) = self.mix.names.find(&self.name) {
            self.memory.text(var).push_str(field.unwrap_or_default());
        }
        Ok(())
    }

    /// After [`Action::Shell`]: appends the command line to `out`, and says whether the
    /// first line of its output is to be given to [`shell_output`](Self::shell_output).
    ///
    /// # Errors
    /// A variable in it has no value.
    pub fn shell_command(&self, out: &mut String) -> Result<bool, RunError> {
        let part = self.part();
        let step = &part.program.steps[self.next.saturating_sub(1)];
        let Act::Shell(shell) = &step.act else {
            return Ok(false);
        };
        for (n, word) in shell.words.iter().enumerate() {
            if n > 0 {
                out.push(' ');
            }
            match word {
                Word::Text(text) => out.push_str(text),
                Word::Var(var) => {
                    let Some(value) = self.memory.get(part.map[var.index()]) else {
                        let name = part.program.names.name(*var);
                        return Err(self.failure(format!("the variable '{name}' has no value yet")));
                    };
                    // Writing to a string cannot fail.
                    let _ = write!(out, "{value}");
                }
            }
        }
        Ok(shell.into.is_some())
    }

    /// The first line that the command of `\setshell` wrote.
    ///
    /// # Errors
    /// It is no integer.
    pub fn shell_output(&mut self, line: &str) -> Result<(), RunError> {
        let step = &self.mix.parts[self.script].program.steps[self.next.saturating_sub(1)];
        let Act::Shell(shell) = &step.act else {
            return Ok(());
        };
        let Some(var) = shell.into else {
            return Ok(());
        };
        let var = self.part().map[var.index()];
        match line.trim().parse() {
            Ok(number) => {
                self.memory.set(var, Value::Int(number));
                Ok(())
            }
            Err(_) => Err(self.failure(format!("the command must write an integer, not '{line}'"))),
        }
    }
}
