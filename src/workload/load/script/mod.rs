//! pgbench's script language, as of version 17: compiled once to a [`Program`], run by a
//! [`Machine`] a client. Knows no engine, no socket and no clock.
//!
//! A driver works like this:
//!
//! ```text
//! program = Program::parse(file, text)            errors with line, column, mark
//! mix     = Mix::new([(program, weight), …])      shared by all clients (Arc)
//! mix.check(values, defines)                      what the scripts lack together
//! machine = Machine::new(setup, mix)              one a client
//!
//! script = machine.begin()                        a transaction, chosen by weight
//! loop match machine.next() {
//!     Send(n)     send statement n of the script: machine.params() or simple_text();
//!                 when statement.keep is not Nothing, machine.received(…) each result
//!     Sleep(d)    wait
//!     …Pipeline   see Action
//!     Shell       run machine.shell_command(…); machine.shell_output(…)
//!     Finished    leave the loop
//! }
//! machine.retry() instead of begin() starts the same transaction over
//! ```
//!
//! One command is ours: `\setstring NAME TEMPLATE` makes NAME a text with a random digit
//! for each `#` and a random letter for each `@`, which sysbench's rows need. So are four
//! functions, which draw as sysbench does: `sysbench_gaussian(min, max, iterations)`,
//! `sysbench_special(min, max, iterations, percent, hot)`, `sysbench_pareto(min, max, h)`
//! and `sysbench_zipfian(min, max, exponent)`.
//!
//! Where we differ from pgbench, on purpose: statements of comments and semicolons alone
//! are not sent; unclosed quotes, comments and parentheses are errors before the run, as
//! are variables that nothing sets; with parameters, a variable without value or with
//! NULL is a true NULL, one in a comment stays, and `':name'` alone in quotes is a
//! parameter; the permutation of `permute()` is another one.

mod answer;
mod builtin;
mod command;
mod error;
mod eval;
mod expr;
mod flow;
mod function;
mod hash;
mod keys;
mod machine;
mod memory;
mod meta;
mod mix;
mod names;
mod parse;
#[cfg(test)]
mod print;
mod program;
mod random;
mod scan;
mod statement;
mod sysbench;
#[cfg(test)]
mod tests;
mod token;
mod value;

pub use builtin::{BUILTINS, Builtin, Schema};
pub use error::{Place, RunError, ScriptError};
pub use keys::{HOT, ITERATIONS, KeyType, Keys, PARETO_H, PERCENT, ZIPFIAN_EXPONENT};
pub use machine::{Action, Machine};
pub use memory::Setup;
pub use mix::{Mix, Values, split_weight};
pub use names::VarId;
pub use program::Program;
pub use statement::{Keep, ParamStyle, Statement};
pub use value::{Param, Value};
