//! Backslash commands from their text.

use super::command::{Amount, Kind, Shell, Span, Unit, Word};
use super::error::{ScriptError, Source};
use super::names::{Names, is_name};
use super::parse;
use super::token::{Tokens, continuation, is_blank};

/// The command whose backslash is at `at`, and the first byte behind it. `None` for a
/// backslash with nothing behind it.
pub(super) fn command(
    source: Source<'_>,
    at: usize,
    names: &mut Names,
) -> Result<(Option<Kind>, usize), ScriptError> {
    let mut words = Words::new(source, at + 1);
    let Some(name) = words.next() else {
        return Ok((None, words.end()));
    };
    let name = name.text.to_ascii_lowercase();
    let mut reader = Reader {
        source,
        at,
        name: &name,
        words,
        names,
    };
    let kind = reader.kind()?;
    Ok((Some(kind), reader.words.end()))
}

struct Reader<'n, 'a> {
    source: Source<'a>,
    at: usize,
    name: &'n str,
    words: Words<'a>,
    names: &'n mut Names,
}

#[derive(Clone, Copy)]
struct Found<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'_, 'a> {
    fn kind(&mut self) -> Result<Kind, ScriptError> {
        match self.name {
            "set" => self.set(),
            "setstring" => self.set_string(),
            "if" => Ok(Kind::If(self.expression()?)),
            "elif" => Ok(Kind::Elif(self.expression()?)),
            "else" => self.bare(Kind::Else),
            "endif" => self.bare(Kind::Endif),
            "startpipeline" => self.bare(Kind::StartPipeline),
            "syncpipeline" => self.bare(Kind::SyncPipeline),
            "endpipeline" => self.bare(Kind::EndPipeline),
            "sleep" => self.sleep(),
            "gset" => self.keep(false),
            "aset" => self.keep(true),
            "shell" => self.shell(false),
            "setshell" => self.shell(true),
            other => Err(self.wrong(format!(
                "unknown command '\\{other}'; a backslash inside SQL is taken for one \
                 unless it is quoted"
            ))),
        }
    }

    fn wrong(&self, message: String) -> ScriptError {
        self.source.error(self.at, message)
    }

    fn need(&mut self, what: &str) -> Result<Found<'a>, ScriptError> {
        let (name, next) = (self.name, self.words.next());
        next.ok_or_else(|| self.wrong(format!("\\{name} lacks {what}")))
    }

    /// The end of the line.
    fn finish<T>(&mut self, value: T) -> Result<T, ScriptError> {
        match self.words.next() {
            None => Ok(value),
            Some(extra) => Err(self.source.error(
                extra.at,
                format!("unexpected '{}' behind \\{}", extra.text, self.name),
            )),
        }
    }

    fn bare(&mut self, kind: Kind) -> Result<Kind, ScriptError> {
        self.finish(kind)
    }

    fn variable(&mut self) -> Result<super::VarId, ScriptError> {
        let found = self.need("the name of a variable")?;
        if !is_name(found.text) {
            let wrong = format!(
                "'{}' is no name for a variable: letters, digits and '_', no digit first",
                found.text
            );
            return Err(self.source.error(found.at, wrong));
        }
        Ok(self.names.number(found.text))
    }

    fn expression(&mut self) -> Result<super::expr::Expr, ScriptError> {
        let mut tokens = Tokens::new(self.source, self.words.at);
        tokens.skip_blanks();
        if self.source.rest_of_line(tokens.at()).is_empty() {
            return Err(self.wrong(format!("\\{} lacks an expression", self.name)));
        }
        let expr = parse::expression(&mut tokens, self.names)?;
        self.words.at = tokens.at();
        Ok(expr)
    }

    fn set(&mut self) -> Result<Kind, ScriptError> {
        let var = self.variable()?;
        Ok(Kind::Set(var, self.expression()?))
    }

    fn set_string(&mut self) -> Result<Kind, ScriptError> {
        let var = self.variable()?;
        let template = self.need("a template")?.text.to_string();
        self.finish(Kind::SetString(var, template))
    }

    fn sleep(&mut self) -> Result<Kind, ScriptError> {
        let given = self.need("how long")?;
        let (amount, unit) = match given.text.strip_prefix(':') {
            Some(name) if is_name(name) => (Amount::Var(self.names.number(name)), None),
            _ => self.fixed(given)?,
        };
        let unit = match (unit, self.words.next()) {
            (Some(unit), None) => self.unit(unit)?,
            (None, Some(unit)) => self.unit(unit)?,
            (None, None) => Unit::Seconds,
            (Some(_), Some(extra)) => {
                let wrong = format!("unexpected '{}' behind \\sleep", extra.text);
                return Err(self.source.error(extra.at, wrong));
            }
        };
        self.finish(Kind::Sleep(Span { amount, unit }))
    }

    /// A number, with its unit directly behind it or not.
    fn fixed(&self, given: Found<'a>) -> Result<(Amount, Option<Found<'a>>), ScriptError> {
        let text = given.text;
        let sign = usize::from(text.starts_with(['+', '-']));
        let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(sign + digits);
        let amount = number.parse().map_err(|_| {
            let wrong = format!("'{text}' is no time to sleep; a whole number is, or a :variable");
            self.source.error(given.at, wrong)
        })?;
        let unit = (!unit.is_empty()).then_some(Found {
            text: unit,
            at: given.at + number.len(),
        });
        Ok((Amount::Fixed(amount), unit))
    }

    fn unit(&self, found: Found<'_>) -> Result<Unit, ScriptError> {
        let all = [Unit::Micros, Unit::Millis, Unit::Seconds];
        let known = all.into_iter();
        let mut same = known.filter(|u| u.name().eq_ignore_ascii_case(found.text));
        same.next().ok_or_else(|| {
            let wrong = format!("unknown unit '{}'; one of: us, ms, s", found.text);
            self.source.error(found.at, wrong)
        })
    }

    fn keep(&mut self, all: bool) -> Result<Kind, ScriptError> {
        let prefix = self.words.next();
        if let Some(found) = prefix.filter(|p| !is_name(p.text)) {
            let wrong = format!("'{}' cannot begin the name of a variable", found.text);
            return Err(self.source.error(found.at, wrong));
        }
        let prefix = prefix.map_or(String::new(), |p| p.text.to_string());
        self.finish(Kind::Keep { all, prefix })
    }

    fn shell(&mut self, sets: bool) -> Result<Kind, ScriptError> {
        let into = if sets { Some(self.variable()?) } else { None };
        let mut next = Some(self.need("a command")?);
        let mut words = Vec::new();
        while let Some(word) = next {
            words.push(match word.text.strip_prefix(':') {
                Some(name) if is_name(name) => Word::Var(self.names.number(name)),
                Some(text) if text.starts_with(':') => Word::Text(text.to_string()),
                _ => Word::Text(word.text.to_string()),
            });
            next = self.words.next();
        }
        Ok(Kind::Shell(Shell { into, words }))
    }
}

/// The words of a command, up to the end of its line; a backslash at the end of a line
/// joins the next one.
struct Words<'a> {
    source: Source<'a>,
    at: usize,
}

impl<'a> Words<'a> {
    fn new(source: Source<'a>, at: usize) -> Self {
        Words { source, at }
    }

    fn rest(&self) -> &'a str {
        &self.source.text[self.at..]
    }

    fn next(&mut self) -> Option<Found<'a>> {
        let mut tokens = Tokens::new(self.source, self.at);
        tokens.skip_blanks();
        self.at = tokens.at();
        let rest = self.rest();
        let ends = |n: usize| {
            let b = rest.as_bytes()[n];
            is_blank(b) || b == b'\n' || continuation(&rest[n..]) > 0
        };
        let found = rest.bytes().enumerate();
        let length = found
            .take_while(|(n, _)| !rest.is_char_boundary(*n) || !ends(*n))
            .count();
        let at = self.at;
        self.at += length;
        (length > 0).then(|| Found {
            text: &rest[..length],
            at,
        })
    }

    /// The first byte behind the line, once all words were taken.
    fn end(&self) -> usize {
        self.at + usize::from(self.rest().starts_with('\n'))
    }
}
