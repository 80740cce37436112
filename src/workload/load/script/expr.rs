//! Expressions of `\set`, `\if` and `\elif`.

use super::function::Function;
use super::names::VarId;
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
