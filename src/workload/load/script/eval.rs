//! The value of an expression.

use super::expr::{Expr, Operator};
use super::function::{Function, MOST_ARGUMENTS};
use super::hash;
use super::names::VarId;
use super::random::{GAUSSIAN_LEAST, Rng, ZIPFIAN};
use super::sysbench::MOST_ITERATIONS;
use super::value::{General, Value};

/// What an expression meets while it is evaluated.
pub(super) trait Scope {
    /// The value of a variable, or why it has none.
    fn variable(&self, id: VarId) -> Result<Value, String>;
    fn rng(&mut self) -> &mut Rng;
    /// `debug()` was called with this.
    fn debug(&mut self, value: Value);
}

/// A value, or what went wrong, in lower case.
pub(super) type Evaluated = Result<Value, String>;

pub(super) fn evaluate(expr: &Expr, scope: &mut impl Scope) -> Evaluated {
    match expr {
        Expr::Constant(value) => Ok(*value),
        Expr::Var(id) => scope.variable(*id),
        Expr::Not(inner) => match evaluate(inner, scope)? {
            Value::Null => Ok(Value::Null),
            value => Ok(Value::Bool(!value.to_bool()?)),
        },
        Expr::Minus(inner) => {
            let value = evaluate(inner, scope)?;
            binary(Operator::Subtract, Value::Int(0), value)
        }
        Expr::Complement(inner) => {
            let value = evaluate(inner, scope)?;
            binary(Operator::BitXor, Value::Int(-1), value)
        }
        Expr::Binary(Operator::And, two) => connected(two, false, scope),
        Expr::Binary(Operator::Or, two) => connected(two, true, scope),
        Expr::Binary(operator, two) => {
            let left = evaluate(&two[0], scope)?;
            let right = evaluate(&two[1], scope)?;
            binary(*operator, left, right)
        }
        Expr::Is(inner, is) => {
            let value = evaluate(inner, scope)?;
            Ok(Value::Bool((value == is.value) != is.negated))
        }
        Expr::Case(whens, otherwise) => {
            for [when, then] in whens {
                if evaluate(when, scope)?.is_truthy() {
                    return evaluate(then, scope);
                }
            }
            match otherwise {
                Some(otherwise) => evaluate(otherwise, scope),
                None => Ok(Value::Null),
            }
        }
        Expr::Call(function, arguments) => call(*function, arguments, scope),
    }
}

/// AND and OR: the right side counts only when the left is not `decides`.
fn connected(two: &[Expr; 2], decides: bool, scope: &mut impl Scope) -> Evaluated {
    for (n, side) in two.iter().enumerate() {
        match evaluate(side, scope)? {
            Value::Null => return Ok(Value::Null),
            value => {
                let value = value.to_bool()?;
                if n == 1 || value == decides {
                    return Ok(Value::Bool(value));
                }
            }
        }
    }
    Ok(Value::Null)
}

fn binary(operator: Operator, left: Value, right: Value) -> Evaluated {
    let is_double = |v| matches!(v, Value::Double(_));
    if left == Value::Null || right == Value::Null {
        return Ok(Value::Null);
    }
    if (is_double(left) || is_double(right)) && takes_doubles(operator) {
        return Ok(doubles(operator, left.to_double()?, right.to_double()?));
    }
    integers(operator, left.to_int()?, right.to_int()?)
}

fn takes_doubles(operator: Operator) -> bool {
    use Operator::*;
    !matches!(
        operator,
        Modulo | BitOr | BitXor | BitAnd | ShiftLeft | ShiftRight
    )
}

fn doubles(operator: Operator, a: f64, b: f64) -> Value {
    match operator {
        Operator::Add => Value::Double(a + b),
        Operator::Subtract => Value::Double(a - b),
        Operator::Multiply => Value::Double(a * b),
        Operator::Divide => Value::Double(a / b),
        Operator::Less => Value::Bool(a < b),
        Operator::LessEqual => Value::Bool(a <= b),
        Operator::Greater => Value::Bool(a > b),
        Operator::GreaterEqual => Value::Bool(a >= b),
        Operator::Equal => Value::Bool(a == b),
        _ => Value::Bool(a != b),
    }
}

fn integers(operator: Operator, a: i64, b: i64) -> Evaluated {
    let exact = |value: Option<i64>, name: &str| {
        let value = value.ok_or_else(|| format!("the {name} is out of range for an int"));
        value.map(Value::Int)
    };
    match operator {
        Operator::Add => exact(a.checked_add(b), "sum"),
        Operator::Subtract => exact(a.checked_sub(b), "difference"),
        Operator::Multiply => exact(a.checked_mul(b), "product"),
        Operator::Divide | Operator::Modulo if b == 0 => Err("division by zero".into()),
        Operator::Divide => exact(a.checked_div(b), "quotient"),
        Operator::Modulo => Ok(Value::Int(a.wrapping_rem(b))),
        Operator::BitOr => Ok(Value::Int(a | b)),
        Operator::BitXor => Ok(Value::Int(a ^ b)),
        Operator::BitAnd => Ok(Value::Int(a & b)),
        // The distance is taken modulo 64, as the processor takes it.
        Operator::ShiftLeft => Ok(Value::Int(a.wrapping_shl(b as u32))),
        Operator::ShiftRight => Ok(Value::Int(a.wrapping_shr(b as u32))),
        Operator::Less => Ok(Value::Bool(a < b)),
        Operator::LessEqual => Ok(Value::Bool(a <= b)),
        Operator::Greater => Ok(Value::Bool(a > b)),
        Operator::GreaterEqual => Ok(Value::Bool(a >= b)),
        Operator::Equal => Ok(Value::Bool(a == b)),
        Operator::Unequal | Operator::And | Operator::Or => Ok(Value::Bool(a != b)),
    }
}

fn call(function: Function, arguments: &[Expr], scope: &mut impl Scope) -> Evaluated {
    let mut values = [Value::Null; MOST_ARGUMENTS];
    let values = &mut values[..arguments.len()];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = evaluate(argument, scope)?;
    }
    if function == Function::Debug {
        scope.debug(values[0]);
        return Ok(values[0]);
    }
    if values.contains(&Value::Null) {
        return Ok(Value::Null);
    }
    if function.draws() {
        return draw(function, values, scope.rng());
    }
    match function {
        Function::Hash | Function::HashMurmur2 => {
            let hash = hash::murmur2(values[0].to_int()?, values[1].to_int()?);
            Ok(Value::Int(hash))
        }
        Function::HashFnv1a => {
            let hash = hash::fnv1a(values[0].to_int()?, values[1].to_int()?);
            Ok(Value::Int(hash))
        }
        Function::Permute => {
            let (index, size) = (values[0].to_int()?, values[1].to_int()?);
            let seed = values[2].to_int()?;
            if size <= 0 {
                return Err(format!(
                    "the size given to permute is {size}, not above zero"
                ));
            }
            Ok(Value::Int(hash::permute(index, size, seed)))
        }
        Function::Mod => integers(Operator::Modulo, values[0].to_int()?, values[1].to_int()?),
        _ => arithmetic(function, values),
    }
}

fn arithmetic(function: Function, values: &[Value]) -> Evaluated {
    let first = || values[0].to_double();
    Ok(match function {
        Function::Pi => Value::Double(std::f64::consts::PI),
        Function::Abs => match values[0] {
            Value::Int(n) => Value::Int(n.wrapping_abs()),
            other => Value::Double(other.to_double()?.abs()),
        },
        Function::Int => Value::Int(values[0].to_int()?),
        Function::Exp => Value::Double(first()?.exp()),
        Function::Ln => Value::Double(first()?.ln()),
        Function::Sqrt => Value::Double(first()?.sqrt()),
        Function::Pow => Value::Double(first()?.powf(values[1].to_double()?)),
        Function::Greatest => return extreme(values, i64::max, f64::max),
        Function::Least => return extreme(values, i64::min, f64::min),
        _ => Value::Double(first()?),
    })
}

/// The largest or smallest: a double if any of them is one.
fn extreme(values: &[Value], of_ints: fn(i64, i64) -> i64, of: fn(f64, f64) -> f64) -> Evaluated {
    if values.iter().any(|v| matches!(v, Value::Double(_))) {
        let mut found = values[0].to_double()?;
        for value in &values[1..] {
            found = of(found, value.to_double()?);
        }
        return Ok(Value::Double(found));
    }
    let mut found = values[0].to_int()?;
    for value in &values[1..] {
        found = of_ints(found, value.to_int()?);
    }
    Ok(Value::Int(found))
}

fn draw(function: Function, values: &[Value], rng: &mut Rng) -> Evaluated {
    let (min, max) = (values[0].to_int()?, values[1].to_int()?);
    if min > max {
        return Err(format!(
            "the range given to {} is empty: {min} to {max}",
            function.name()
        ));
    }
    let count = max.checked_sub(min).and_then(|n| n.checked_add(1));
    let Some(count) = count else {
        return Err(format!(
            "the range given to {} is too large",
            function.name()
        ));
    };
    if function == Function::Random {
        return Ok(Value::Int(rng.uniform(min, count)));
    }
    if function == Function::SysbenchSpecial || function == Function::SysbenchGaussian {
        return bell(function, values, (min, count), rng);
    }
    let parameter = values[2].to_double()?;
    let refuse = |must: &str| {
        let (name, given) = (function.name(), General(parameter));
        Err(format!(
            "the parameter of {name} must be {must}, not {given}"
        ))
    };
    Ok(Value::Int(match function {
        Function::RandomGaussian => {
            if parameter.is_nan() || parameter < GAUSSIAN_LEAST {
                return refuse("at least 2");
            }
            rng.gaussian(min, count, parameter)
        }
        Function::RandomZipfian => {
            if !ZIPFIAN.contains(&parameter) {
                return refuse("from 1.001 to 1000");
            }
            rng.zipfian(min, count, parameter)
        }
        Function::SysbenchPareto => {
            if !(parameter > 0.0 && parameter < 1.0) {
                return refuse("between 0 and 1");
            }
            rng.pareto(min, count, parameter)
        }
        Function::SysbenchZipfian => {
            if !(parameter.is_finite() && parameter >= 0.0) {
                return refuse("zero or above");
            }
            rng.zipf(min, count, parameter)
        }
        _ => {
            if parameter.is_nan() || parameter <= 0.0 {
                return refuse("above zero");
            }
            rng.exponential(min, count, parameter)
        }
    }))
}

/// sysbench's two that have a bell; their parameters are whole numbers.
fn bell(
    function: Function,
    values: &[Value],
    (min, count): (i64, i64),
    rng: &mut Rng,
) -> Evaluated {
    let parameter = |n: usize, name: &str, most: i64, least: i64| {
        let given = values[n].to_int()?;
        match (least..=most).contains(&given) {
            true => Ok(given),
            false => Err(format!(
                "the {name} given to {} must be from {least} to {most}, not {given}",
                function.name()
            )),
        }
    };
    let iterations = parameter(2, "iterations", MOST_ITERATIONS, 1)?;
    if function == Function::SysbenchGaussian {
        return Ok(Value::Int(rng.bates(min, count, iterations)));
    }
    let percent = parameter(3, "percentage of the range", 100, 0)?;
    let hot = parameter(4, "percentage of the draws", 99, 0)?;
    Ok(Value::Int(rng.special(
        min,
        count,
        (iterations, percent, hot),
    )))
}
