//! Expressions from their text, by precedence climbing.

use super::error::ScriptError;
use super::expr::{DEEPEST, Expr, Is, Operator, binding};
use super::function::{Function, MOST_ARGUMENTS};
use super::names::Names;
use super::token::{Token, Tokens};
use super::value::Value;

/// The expression that fills the rest of the line.
pub(super) fn expression(tokens: &mut Tokens<'_>, names: &mut Names) -> Result<Expr, ScriptError> {
    let mut parser = Parser {
        names,
        next: Token::End,
        at: 0,
        ahead: *tokens,
        depth: 0,
    };
    parser.advance()?;
    let (expr, _) = parser.climb(0)?;
    if parser.next != Token::End {
        return Err(parser.unexpected());
    }
    *tokens = parser.ahead;
    Ok(expr)
}

struct Parser<'n, 'a> {
    names: &'n mut Names,
    /// The token in hand, where it begins, and the tokens behind it.
    next: Token<'a>,
    at: usize,
    ahead: Tokens<'a>,
    depth: usize,
}

/// An expression and the depth of its tree.
type Deep = (Expr, usize);

fn above(deepest: usize) -> usize {
    deepest + 1
}

impl<'a> Parser<'_, 'a> {
    fn advance(&mut self) -> Result<Token<'a>, ScriptError> {
        let token = self.next;
        (self.next, self.at) = self.ahead.next()?;
        Ok(token)
    }

    fn error(&self, message: impl Into<String>) -> ScriptError {
        self.ahead.source().error(self.at, message)
    }

    fn unexpected(&self) -> ScriptError {
        let what = match self.next {
            Token::End => return self.error("the expression ends too early"),
            Token::Int(n) => format!("{n}"),
            Token::IntBeyond => {
                return self.error("the number is out of range for an int: '9223372036854775808'");
            }
            Token::Double(d) => format!("{d}"),
            Token::Var(name) => format!(":{name}"),
            Token::Word(word) => word.to_string(),
            Token::Symbol(symbol) => symbol.to_string(),
        };
        self.error(format!("unexpected '{what}'"))
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.next, Token::Word(w) if w.eq_ignore_ascii_case(word))
    }

    fn take_word(&mut self, word: &str) -> Result<bool, ScriptError> {
        let found = self.is_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect_word(&mut self, word: &str) -> Result<(), ScriptError> {
        if self.take_word(word)? {
            return Ok(());
        }
        Err(match self.next {
            Token::End => self.error(format!("'{word}' is missing")),
            _ => self.unexpected(),
        })
    }

    fn expect_symbol(&mut self, symbol: &'static str) -> Result<(), ScriptError> {
        if self.next == Token::Symbol(symbol) {
            self.advance()?;
            return Ok(());
        }
        Err(match self.next {
            Token::End => self.error(format!("'{symbol}' is missing")),
            _ => self.unexpected(),
        })
    }

    fn deep(&self, depth: usize) -> Result<(), ScriptError> {
        if depth > DEEPEST {
            let most = format!("the expression is nested more than {DEEPEST} deep");
            return Err(self.error(most));
        }
        Ok(())
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn climb(&mut self, least: u8) -> Result<Deep, ScriptError> {
        self.depth += 1;
        self.deep(self.depth)?;
        let (mut left, mut depth) = self.operand()?;
        // Comparisons do not associate: what follows one cannot be another.
        let mut compared = false;
        loop {
            if let Some(is) = self.is_test(least)? {
                left = Expr::Is(Box::new(left), is);
                (depth, compared) = (above(depth), false);
            } else {
                let Some(operator) = self.operator().filter(|o| o.binding() >= least) else {
                    break;
                };
                let compares = operator.binding() == binding::COMPARE;
                if compares && compared {
                    return Err(self.unexpected());
                }
                self.advance()?;
                let (right, right_depth) = self.climb(operator.binding() + 1)?;
                left = Expr::Binary(operator, Box::new([left, right]));
                (depth, compared) = (above(depth.max(right_depth)), compares);
            }
            self.deep(depth)?;
        }
        self.depth -= 1;
        Ok((left, depth))
    }

    fn operator(&self) -> Option<Operator> {
        Some(match self.next {
            Token::Word(_) if self.is_word("or") => Operator::Or,
            Token::Word(_) if self.is_word("and") => Operator::And,
            Token::Symbol("<") => Operator::Less,
            Token::Symbol("<=") => Operator::LessEqual,
            Token::Symbol(">") => Operator::Greater,
            Token::Symbol(">=") => Operator::GreaterEqual,
            Token::Symbol("=") => Operator::Equal,
            Token::Symbol("<>" | "!=") => Operator::Unequal,
            Token::Symbol("|") => Operator::BitOr,
            Token::Symbol("#") => Operator::BitXor,
            Token::Symbol("&") => Operator::BitAnd,
            Token::Symbol("<<") => Operator::ShiftLeft,
            Token::Symbol(">>") => Operator::ShiftRight,
            Token::Symbol("+") => Operator::Add,
            Token::Symbol("-") => Operator::Subtract,
            Token::Symbol("*") => Operator::Multiply,
            Token::Symbol("/") => Operator::Divide,
            Token::Symbol("%") => Operator::Modulo,
            _ => return None,
        })
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, `ISNULL`, `NOTNULL` behind an operand.
    fn is_test(&mut self, least: u8) -> Result<Option<Is>, ScriptError> {
        if least > binding::IS {
            return Ok(None);
        }
        let null = |negated| Is {
            value: Value::Null,
            negated,
        };
        if self.take_word("isnull")? {
            return Ok(Some(null(false)));
        }
        if self.take_word("notnull")? {
            return Ok(Some(null(true)));
        }
        if !self.take_word("is")? {
            return Ok(None);
        }
        let negated = self.take_word("not")?;
        let Some(value) = self.literal() else {
            return Err(self.unexpected());
        };
        self.advance()?;
        Ok(Some(Is { value, negated }))
    }

    /// The truth value or NULL in hand.
    fn literal(&self) -> Option<Value> {
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
        ];
        let found = words.iter().find(|(word, _)| self.is_word(word));
        found.map(|(_, value)| *value)
    }

    fn operand(&mut self) -> Result<Deep, ScriptError> {
        if let Some(value) = self.literal() {
            self.advance()?;
            return Ok((Expr::Constant(value), 1));
        }
        let leaf = |expr| Ok((expr, 1));
        match self.next {
            Token::Int(n) => {
                self.advance()?;
                leaf(Expr::Constant(Value::Int(n)))
            }
            Token::Double(d) => {
                self.advance()?;
                leaf(Expr::Constant(Value::Double(d)))
            }
            Token::Var(name) => {
                self.advance()?;
                leaf(Expr::Var(self.names.number(name)))
            }
            Token::Word(word) => self.word(word),
            Token::Symbol("(") => {
                self.advance()?;
                let inner = self.climb(0)?;
                self.expect_symbol(")")?;
                Ok(inner)
            }
            Token::Symbol("+") => {
                self.advance()?;
                self.climb(binding::SIGN)
            }
            Token::Symbol("-") => self.minus(),
            Token::Symbol("~") => {
                self.advance()?;
                // Looser than a sign, though it looks alike: ~ 1 + 2 is ~ (1 + 2).
                let (expr, depth) = self.climb(binding::BITS + 1)?;
                Ok((Expr::Complement(Box::new(expr)), above(depth)))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn minus(&mut self) -> Result<Deep, ScriptError> {
        self.advance()?;
        if self.next == Token::IntBeyond {
            self.advance()?;
            return Ok((Expr::Constant(Value::Int(i64::MIN)), 1));
        }
        let (expr, depth) = self.climb(binding::SIGN)?;
        Ok((Expr::Minus(Box::new(expr)), above(depth)))
    }

    fn word(&mut self, word: &str) -> Result<Deep, ScriptError> {
        const KEYWORDS: [&str; 9] = [
            "and", "or", "is", "isnull", "notnull", "when", "then", "else", "end",
        ];
        if self.take_word("not")? {
            let (expr, depth) = self.climb(binding::NOT)?;
            return Ok((Expr::Not(Box::new(expr)), above(depth)));
        }
        if self.take_word("case")? {
            return self.case();
        }
        let lower = word.to_ascii_lowercase();
        if KEYWORDS.contains(&lower.as_str()) {
            return Err(self.unexpected());
        }
        let Some(function) = Function::named(&lower) else {
            return Err(self.error(format!("unknown function '{word}'")));
        };
        self.call(function)
    }

    fn call(&mut self, function: Function) -> Result<Deep, ScriptError> {
        let at = self.at;
        self.advance()?;
        self.expect_symbol("(")?;
        let (mut arguments, mut depth) = (Vec::new(), 0);
        while self.next != Token::Symbol(")") {
            if !arguments.is_empty() {
                self.expect_symbol(",")?;
            }
            let (argument, argument_depth) = self.climb(0)?;
            arguments.push(argument);
            depth = depth.max(argument_depth);
        }
        self.advance()?;
        if let Some(wrong) = function.refuse(arguments.len()) {
            return Err(self.ahead.source().error(at, wrong));
        }
        if function.takes_seed() && arguments.len() < *function.arity().end() {
            arguments.push(Expr::Var(self.names.number("default_seed")));
        }
        debug_assert!(arguments.len() <= MOST_ARGUMENTS);
        Ok((Expr::Call(function, arguments), above(depth)))
    }

    /// Behind CASE.
    fn case(&mut self) -> Result<Deep, ScriptError> {
        let (mut whens, mut depth) = (Vec::new(), 0);
        let mut otherwise = None;
        self.expect_word("when")?;
        loop {
            let (when, when_depth) = self.climb(0)?;
            self.expect_word("then")?;
            let (then, then_depth) = self.climb(0)?;
            whens.push([when, then]);
            depth = depth.max(when_depth).max(then_depth);
            if !self.take_word("when")? {
                break;
            }
        }
        if self.take_word("else")? {
            let (expr, else_depth) = self.climb(0)?;
            otherwise = Some(Box::new(expr));
            depth = depth.max(else_depth);
        }
        self.expect_word("end")?;
        Ok((Expr::Case(whens, otherwise), above(depth)))
    }
}
