//! Expressions: values and errors as pgbench 15 gives them, taken from it.

use super::{machine, transaction};

/// `debug()` of an expression, or the error.
fn value(expression: &str) -> String {
    let mut machine = machine(&format!("\\set x debug({expression})\nSELECT 1;"), &[]);
    match transaction(&mut machine) {
        Err(error) => error.message,
        Ok(_) => {
            let printed: Vec<String> = machine.printed().collect();
            let last = printed.last().expect("debug() prints").as_str();
            let told = last.strip_prefix("debug(script=0,command=1): ");
            told.expect("the place").to_string()
        }
    }
}

fn check(cases: &[(&str, &str)]) {
    for (expression, expected) in cases {
        assert_eq!(value(expression), *expected, "{expression}");
    }
}

#[test]
fn three_valued_logic() {
    check(&[
        ("null and false", "null"),
        ("null or true", "null"),
        ("null and 1/0", "null"),
        ("null or debug(true)", "null"),
        ("false and null", "boolean false"),
        ("true and null", "null"),
        ("false or null", "null"),
        ("true or null", "boolean true"),
        ("true or 5", "boolean true"),
        ("not null", "null"),
        ("not not true", "boolean true"),
        ("4 <> 5 or 1 != 1", "boolean true"),
        ("1 is null is null", "boolean false"),
        ("not null is null", "boolean false"),
        ("1 + 2 is not null", "boolean true"),
        ("5 is not null is true", "boolean true"),
        ("1 is true", "boolean false"),
        ("null is not true", "boolean true"),
        ("1 isnull", "boolean false"),
        ("1 notnull", "boolean true"),
        ("debug(null) is null", "boolean true"),
        ("TRUE", "boolean true"),
    ]);
}

#[test]
fn precedence() {
    check(&[
        ("not 1 = 2", "boolean true"),
        ("1 = 2 is null", "boolean false"),
        ("1 | 2 & 3 # 1 << 2", "int 8"),
        ("~ 1 + 2", "int -4"),
        ("~ 1 | 2", "int -2"),
        ("- ~ 5 + 2", "int 8"),
        ("- 2 + 3", "int 1"),
        ("- ~ 5", "int 6"),
        ("3 - -2", "int 5"),
        ("3-2", "int 1"),
        ("1 -1", "int 0"),
        ("- - 3", "int 3"),
        ("+ 3", "int 3"),
        ("2 + 3 * 4 % 5", "int 4"),
        ("10 - 3 - 2", "int 5"),
        ("(10 - (3 - 2))", "int 9"),
    ]);
}

#[test]
fn integers_and_their_limits() {
    check(&[
        ("-9223372036854775808", "int -9223372036854775808"),
        ("7 / 2", "int 3"),
        ("-7 / 2", "int -3"),
        ("-7 % 3", "int -1"),
        ("7 % -3", "int 1"),
        ("mod(7,3)", "int 1"),
        ("7.5 % 2", "int 0"),
        ("5 # 3", "int 6"),
        ("~~5", "int 5"),
        ("1 << 64", "int 1"),
        ("1 << -1", "int -9223372036854775808"),
        ("-9223372036854775808 % -1", "int 0"),
        ("abs(-17)", "int 17"),
        (
            "9223372036854775807 + 1",
            "the sum is out of range for an int",
        ),
        (
            "-9223372036854775808 / -1",
            "the quotient is out of range for an int",
        ),
        (
            "-(-9223372036854775808)",
            "the difference is out of range for an int",
        ),
        (
            "5000000000 * 5000000000",
            "the product is out of range for an int",
        ),
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
    ]);
}

#[test]
fn doubles() {
    check(&[
        ("1.5 + 1", "double 2.5"),
        ("1e3", "double 1000"),
        (".5", "double 0.5"),
        ("5.", "double 5"),
        ("1.0 / 0", "double Infinity"),
        ("sqrt(-1)", "double NaN"),
        ("ln(0)", "double -Infinity"),
        ("-0.0", "double 0"),
        ("0.0 * -1", "double -0"),
        ("1 / 3.0", "double 0.333333333333333"),
        ("pow(2,0.5)", "double 1.4142135623731"),
        ("power(2,10)", "double 1024"),
        ("PI()", "double 3.14159265358979"),
        ("exp(1)", "double 2.71828182845905"),
        ("double(5432)", "double 5432"),
        ("int(2.5)", "int 2"),
        ("int(3.5)", "int 4"),
        ("int(5.4 + 3.8)", "int 9"),
        ("int(1e19)", "1e+19 is out of range for an int"),
        ("abs(-2.5)", "double 2.5"),
    ]);
}

#[test]
fn functions() {
    check(&[
        ("greatest(1,2.5,3)", "double 3"),
        ("least(5, 4, 3, 2.1)", "double 2.1"),
        ("greatest(5, 4, 3, 2)", "int 5"),
        ("least(1)", "int 1"),
        ("greatest(1,null)", "null"),
        ("hash(10, 5432)", "int -5817877081768721676"),
        ("hash_murmur2(10, 5432)", "int -5817877081768721676"),
        ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
        ("hash_fnv1a(-1, 7)", "int 923706717037857242"),
        ("hash(9223372036854775807,-1)", "int -7449049946749928351"),
        ("hash(null)", "null"),
        ("hash(1.5, 1) = hash(2, 1)", "boolean true"),
        ("hash(7) = hash(7, :default_seed)", "boolean true"),
        (
            "permute(7, 100) = permute(7, 100, :default_seed)",
            "boolean true",
        ),
        ("permute(-3, 10, 5) = permute(3, 10, 5)", "boolean true"),
        ("random(1, null)", "null"),
        ("random(7, 7)", "int 7"),
        ("random_zipfian(7, 7, 1.5)", "int 7"),
        ("case when null then 1 end", "null"),
        ("case when 0 then 1 when 1.5 then 2 else 3 end", "int 2"),
        ("case when true then 1 else 1/0 end", "int 1"),
        (":scale", "int 2"),
        (":client_id", "int 3"),
        (":random_seed", "int 42"),
    ]);
}

#[test]
fn wrong_types_and_arguments() {
    check(&[
        ("true = true", "cannot take boolean for an int"),
        ("2 * not true", "cannot take boolean for an int"),
        ("1 + true", "cannot take boolean for an int"),
        ("- true", "cannot take boolean for an int"),
        ("not 5", "cannot take int for a boolean"),
        ("false or 5", "cannot take int for a boolean"),
        ("double(true)", "cannot take boolean for a double"),
        ("random(5, 1)", "the range given to random is empty: 5 to 1"),
        (
            "random(0, 9223372036854775807)",
            "the range given to random is too large",
        ),
        (
            "random_gaussian(1, 10, 1.9)",
            "the parameter of random_gaussian must be at least 2, not 1.9",
        ),
        (
            "random_zipfian(1, 10, 1)",
            "the parameter of random_zipfian must be from 1.001 to 1000, not 1",
        ),
        (
            "random_exponential(1, 10, 0)",
            "the parameter of random_exponential must be above zero, not 0",
        ),
        (
            "permute(5, 0)",
            "the size given to permute is 0, not above zero",
        ),
        (":nothing", "the variable 'nothing' has no value yet"),
    ]);
}
