//! One line of CSV.

/// The fields of a line; quotes around a field that holds commas, doubled for one of their own.
///
/// # Errors
/// A quote that does not end, or that ends before its field does.
pub(super) fn fields(line: &str) -> Result<Vec<String>, String> {
    let mut fields = vec![String::new()];
    let mut chars = line.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.last_mut().ok_or("no field")?;
        match c {
            ',' => fields.push(String::new()),
            '"' if field.is_empty() => {
                *field = quoted(&mut chars)?;
                if chars.peek().is_some_and(|next| *next != ',') {
                    return Err("a quoted field goes on after its quote".to_string());
                }
            }
            c => field.push(c),
        }
    }
    Ok(fields)
}

fn quoted(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    let mut text = String::new();
    loop {
        match chars.next() {
            None => return Err("a quote does not end on its line".to_string()),
            Some('"') if chars.peek() == Some(&'"') => {
                chars.next();
                text.push('"');
            }
            Some('"') => return Ok(text),
            Some(c) => text.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn commas_and_quotes_are_told_apart() {
        assert_eq!(
            fields("a,\"b,c\",,\"d\"\"e\"\r").unwrap(),
            ["a", "b,c", "", "d\"e"]
        );
        assert_eq!(fields("").unwrap(), [""]);
        assert!(fields("\"a").is_err() && fields("\"a\"b").is_err());
    }
}
