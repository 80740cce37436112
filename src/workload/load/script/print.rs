//! Writes commands in a form that reads back as they are: what the tests of the parser
//! compare.

use std::fmt;

use super::command::{Amount, Kind, Word};
use super::expr::{Expr, Operator};
use super::names::Names;
use super::value::Value;

impl Operator {
    pub fn symbol(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Less => "<",
            Operator::LessEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterEqual => ">=",
            Operator::Equal => "=",
            Operator::Unequal => "<>",
            Operator::BitOr => "|",
            Operator::BitXor => "#",
            Operator::BitAnd => "&",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Modulo => "%",
        }
    }
}

/// An expression with the names of its variables.
pub(super) struct ShownExpr<'a> {
    pub expr: &'a Expr,
    pub names: &'a Names,
}

/// With every operation in parentheses, so that it reads back as it is.
impl fmt::Display for ShownExpr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names;
        match self.expr {
            Expr::Constant(Value::Double(d)) => write!(f, "{d:?}"),
            Expr::Constant(value) => write!(f, "{value}"),
            Expr::Var(id) => write!(f, ":{}", names.name(*id)),
            Expr::Not(e) => write!(f, "(not {})", show(e, names)),
            Expr::Minus(e) => write!(f, "(- {})", show(e, names)),
            Expr::Complement(e) => write!(f, "(~ {})", show(e, names)),
            Expr::Binary(op, two) => {
                let [left, right] = two.as_ref();
                let (left, right) = (show(left, names), show(right, names));
                write!(f, "({left} {} {right})", op.symbol())
            }
            Expr::Is(e, is) => {
                let not = if is.negated { "not " } else { "" };
                write!(f, "({} is {not}{})", show(e, names), is.value)
            }
            Expr::Case(whens, otherwise) => {
                f.write_str("case")?;
                for [when, then] in whens {
                    write!(f, " when {} then {}", show(when, names), show(then, names))?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " else {}", show(otherwise, names))?;
                }
                f.write_str(" end")
            }
            Expr::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (n, argument) in arguments.iter().enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", show(argument, names))?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A backslash command with the names of its variables, in a form that reads back.
pub(super) struct Shown<'a> {
    pub kind: &'a Kind,
    pub names: &'a Names,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names;
        match self.kind {
            Kind::Sql(number) => write!(f, "-- statement {number}"),
            Kind::Set(var, expr) => {
                write!(f, "\\set {} {}", names.name(*var), show(expr, names))
            }
            Kind::SetString(var, text) => {
                write!(f, "\\setstring {} {text}", names.name(*var))
            }
            Kind::If(expr) => write!(f, "\\if {}", show(expr, names)),
            Kind::Elif(expr) => write!(f, "\\elif {}", show(expr, names)),
            Kind::Else => f.write_str("\\else"),
            Kind::Endif => f.write_str("\\endif"),
            Kind::Sleep(span) => {
                let unit = span.unit.name();
                match span.amount {
                    Amount::Fixed(n) => write!(f, "\\sleep {n} {unit}"),
                    Amount::Var(var) => write!(f, "\\sleep :{} {unit}", names.name(var)),
                }
            }
            Kind::Keep { all, prefix } => {
                let name = if *all { "aset" } else { "gset" };
                write!(f, "\\{name} {prefix}")
            }
            Kind::StartPipeline => f.write_str("\\startpipeline"),
            Kind::SyncPipeline => f.write_str("\\syncpipeline"),
            Kind::EndPipeline => f.write_str("\\endpipeline"),
            Kind::Shell(shell) => {
                match shell.into {
                    Some(var) => write!(f, "\\setshell {}", names.name(var))?,
                    None => f.write_str("\\shell")?,
                }
                shell.words.iter().try_for_each(|word| match word {
                    Word::Text(text) if text.starts_with(':') => write!(f, " :{text}"),
                    Word::Text(text) => write!(f, " {text}"),
                    Word::Var(var) => write!(f, " :{}", names.name(*var)),
                })
            }
        }
    }
}

fn show<'a>(expr: &'a Expr, names: &'a Names) -> ShownExpr<'a> {
    ShownExpr { expr, names }
}
