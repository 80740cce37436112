//! What is printed reads back as it was; nothing that is read makes the parser panic.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::command::{Amount, Kind, Shell, Span, Unit, Word};
use super::super::error::Source;
use super::super::expr::{Expr, Is, Operator};
use super::super::function::Function;
use super::super::names::{Names, VarId};
use super::super::print::Shown;
use super::super::program::read;
use super::super::{Machine, Mix, Program, Value};
use super::{setup, transaction};

/// `v0` to `v9` and `default_seed`.
fn names() -> Names {
    let mut names = Names::default();
    for n in 0..10 {
        names.number(&format!("v{n}"));
    }
    names
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (0..=i64::MAX).prop_map(Value::Int),
        Just(Value::Int(i64::MIN)),
        (0.0..1e300f64).prop_map(Value::Double),
    ]
}

fn operator() -> impl Strategy<Value = Operator> {
    use Operator::*;
    prop::sample::select(vec![
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
    ])
}

fn is() -> impl Strategy<Value = Is> {
    let value = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool)];
    (value, any::<bool>()).prop_map(|(value, negated)| Is { value, negated })
}

/// With as many arguments as it takes at most.
fn call(inner: impl Strategy<Value = Expr>) -> impl Strategy<Value = Expr> {
    let function = prop::sample::select(Function::ALL);
    (function, vec(inner, 16)).prop_map(|(function, mut arguments)| {
        let most = *function.arity().end();
        arguments.truncate(if most == 16 { 3 } else { most });
        Expr::Call(function, arguments)
    })
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        value().prop_map(Expr::Constant),
        (0u32..10).prop_map(|n| Expr::Var(VarId(n))),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        prop_oneof![
            boxed().prop_map(Expr::Not),
            boxed().prop_map(Expr::Complement),
            boxed()
                .prop_filter("2^63 behind a minus is a number", |e| {
                    **e != Expr::Constant(Value::Int(i64::MIN))
                })
                .prop_map(Expr::Minus),
            (operator(), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Expr::Binary(op, Box::new([a, b]))),
            (boxed(), is()).prop_map(|(e, is)| Expr::Is(e, is)),
            (
                vec(
                    (inner.clone(), inner.clone()).prop_map(|(a, b)| [a, b]),
                    1..3
                ),
                proptest::option::of(boxed()),
            )
                .prop_map(|(whens, otherwise)| Expr::Case(whens, otherwise)),
            call(inner.clone()),
        ]
    })
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![
        (0u32..10).prop_map(|n| Word::Var(VarId(n))),
        "[a-z=/-][a-z:=]{0,5}".prop_map(Word::Text),
        ":[a-z]{1,5}".prop_map(Word::Text),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    let var = || (0u32..10).prop_map(VarId);
    let unit = prop::sample::select(vec![Unit::Micros, Unit::Millis, Unit::Seconds]);
    let amount = prop_oneof![
        any::<i64>().prop_map(Amount::Fixed),
        var().prop_map(Amount::Var),
    ];
    prop_oneof![
        (var(), expr()).prop_map(|(var, expr)| Kind::Set(var, expr)),
        (var(), "[#@a-z-]{1,20}").prop_map(|(var, text)| Kind::SetString(var, text)),
        expr().prop_map(Kind::If),
        expr().prop_map(Kind::Elif),
        Just(Kind::Else),
        Just(Kind::Endif),
        Just(Kind::StartPipeline),
        Just(Kind::SyncPipeline),
        Just(Kind::EndPipeline),
        (amount, unit).prop_map(|(amount, unit)| Kind::Sleep(Span { amount, unit })),
        (proptest::option::of(var()), vec(word(), 1..4))
            .prop_map(|(into, words)| Kind::Shell(Shell { into, words })),
    ]
}

/// Pieces that a script is likely to hold, in any order.
fn salad() -> impl Strategy<Value = String> {
    let pieces = vec![
        "\\set x ",
        "\\if ",
        "\\elif ",
        "\\else\n",
        "\\endif\n",
        "\\gset ",
        "\\aset\n",
        "\\sleep ",
        "\\startpipeline\n",
        "\\endpipeline\n",
        "\\syncpipeline\n",
        "\\shell ",
        "\\setshell x ",
        "\\setstring x ",
        "SELECT ",
        ";\n",
        "\n",
        "\\\n",
        "\\;",
        "'",
        "\"",
        "$$",
        "$a$",
        "--",
        "/*",
        "*/",
        "(",
        ")",
        "1",
        "1.5",
        "1e",
        ":x",
        ":",
        "::",
        "null",
        "true",
        "not ",
        "and ",
        "is ",
        "case ",
        "when ",
        "then ",
        "end ",
        "random(1, 5)",
        "hash(",
        ",",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<",
        "=",
        "|",
        "~",
        "E'",
        "é",
        "ü:x",
        "us",
        "ms",
        " ",
        "\t",
        "\r\n",
        "\\",
    ];
    vec(prop::sample::select(pieces), 0..40).prop_map(|pieces| pieces.concat())
}

/// Whatever compiles also runs to an end: all jumps go forward.
fn run(text: &str) {
    let Ok(program) = Program::parse("x.sql", text) else {
        return;
    };
    for statement in program.statements() {
        statement.prepared_text(super::super::ParamStyle::Dollar);
    }
    let mix = Mix::of(program).expect("one script");
    let _checked = mix.check(super::super::Values::AsParams, &[]);
    let mut machine = Machine::new(&setup(&[("x", "5")]), Arc::new(mix));
    for _ in 0..2 {
        let _ended = transaction(&mut machine);
        machine.retry();
    }
}

proptest! {
    #[test]
    fn commands_read_back(kinds in vec(kind(), 1..6)) {
        let mut names = names();
        let text: String = kinds
            .iter()
            .map(|kind| format!("{}\n", Shown { kind, names: &names }))
            .collect();
        let source = Source { name: "x.sql", text: &text };
        let (commands, _) = match read(source, &mut names) {
            Ok(read) => read,
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        let back: Vec<Kind> = commands.into_iter().map(|command| command.kind).collect();
        prop_assert_eq!(back, kinds);
    }

    #[test]
    fn any_text_is_taken_or_refused(text in any::<String>()) {
        run(&text);
    }

    #[test]
    fn any_bytes_are_taken_or_refused(bytes in vec(any::<u8>(), 0..200)) {
        let _result = Program::parse_bytes("x.sql", &bytes);
    }

    #[test]
    fn any_salad_is_taken_or_refused(text in salad()) {
        run(&text);
        run(&format!("SELECT 1;\n{text}"));
        run(&format!("SELECT 1;\n\\set x {text}"));
    }
}
