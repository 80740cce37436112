//! Expressions of `\set`, `\if` and `\elif`.

use std::fmt;

use super::function::Function;
use super::names::{Names, VarId};
use super::value::Value;

/// The deepest nesting taken: evaluation recurses.
pub(super) const DEEPEST: usize = 200;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Constant(Value),
    Var(VarId),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Complement(Box<Expr>),
    Binary(Operator, Box<[Expr; 2]>),
    Is(Box<Expr>, Is),
    Case(Vec<[Expr; 2]>, Option<Box<Expr>>),
    Call(Function, Vec<Expr>),
}

/// What follows IS: the value, and whether NOT stood before it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Is {
    pub value: Value,
    pub negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    Unequal,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// How tightly things bind, loosest first.
pub(super) mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARE: u8 = 5;
    pub const BITS: u8 = 6;
    pub const ADD: u8 = 7;
    pub const MULTIPLY: u8 = 8;
    pub const SIGN: u8 = 9;
}

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

    pub fn binding(self) -> u8 {
        match self {
            Operator::Or => binding::OR,
            Operator::And => binding::AND,
            Operator::BitOr | Operator::BitXor | Operator::BitAnd => binding::BITS,
            Operator::ShiftLeft | Operator::ShiftRight => binding::BITS,
            Operator::Add | Operator::Subtract => binding::ADD,
            Operator::Multiply | Operator::Divide | Operator::Modulo => binding::MULTIPLY,
            _ => binding::COMPARE,
        }
    }
}

impl Expr {
    /// For printing, with the names of the variables.
    pub fn with<'a>(&'a self, names: &'a Names) -> Shown<'a> {
        Shown { expr: self, names }
    }

    /// The expressions directly below.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Constant(_) | Expr::Var(_) => Vec::new(),
            Expr::Not(e) | Expr::Minus(e) | Expr::Complement(e) | Expr::Is(e, _) => vec![e],
            Expr::Binary(_, two) => two.iter().collect(),
            Expr::Case(whens, otherwise) => {
                let whens = whens.iter().flatten();
                whens.chain(otherwise.as_deref()).collect()
            }
            Expr::Call(_, arguments) => arguments.iter().collect(),
        }
    }

    /// Every variable that it reads.
    pub fn variables(&self, into: &mut Vec<VarId>) {
        if let Expr::Var(id) = self {
            into.push(*id);
        }
        for part in self.parts() {
            part.variables(into);
        }
    }
}

/// An expression with the names of its variables.
pub(super) struct Shown<'a> {
    expr: &'a Expr,
    names: &'a Names,
}

/// With every operation in parentheses, so that it reads back as it is.
impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names;
        match self.expr {
            Expr::Constant(Value::Double(d)) => write!(f, "{d:?}"),
            Expr::Constant(value) => write!(f, "{value}"),
            Expr::Var(id) => write!(f, ":{}", names.name(*id)),
            Expr::Not(e) => write!(f, "(not {})", e.with(names)),
            Expr::Minus(e) => write!(f, "(- {})", e.with(names)),
            Expr::Complement(e) => write!(f, "(~ {})", e.with(names)),
            Expr::Binary(op, two) => {
                let [left, right] = two.as_ref();
                let (left, right) = (left.with(names), right.with(names));
                write!(f, "({left} {} {right})", op.symbol())
            }
            Expr::Is(e, is) => {
                let not = if is.negated { "not " } else { "" };
                write!(f, "({} is {not}{})", e.with(names), is.value)
            }
            Expr::Case(whens, otherwise) => {
                f.write_str("case")?;
                for [when, then] in whens {
                    write!(f, " when {} then {}", when.with(names), then.with(names))?;
                }
                if let Some(otherwise) = otherwise {
                    write!(f, " else {}", otherwise.with(names))?;
                }
                f.write_str(" end")
            }
            Expr::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (n, argument) in arguments.iter().enumerate() {
                    let comma = if n > 0 { ", " } else { "" };
                    write!(f, "{comma}{}", argument.with(names))?;
                }
                f.write_str(")")
            }
        }
    }
}
