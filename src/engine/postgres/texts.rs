//! Statement texts between our spelling and PostgreSQL's.

/// Writes `?` parameters as `$1`, `$2`, …; those in quotes and comments are text.
pub(super) fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 8);
    let mut quote = None;
    let mut count = 0;
    let mut chars = sql.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(end), _) => {
                if c == end {
                    quote = None;
                }
                out.push(c);
            }
            (None, '\'' | '"') => {
                quote = Some(c);
                out.push(c);
            }
            (None, '-') if chars.peek() == Some(&'-') => {
                quote = Some('\n');
                out.push(c);
            }
            (None, '?') => {
                count += 1;
                out += &format!("${count}");
            }
            (None, _) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_outside_quotes_only() {
        assert_eq!(
            numbered("a=? and b='?''?' and \"?\"=? -- ?\n and c=?"),
            "a=$1 and b='?''?' and \"?\"=$2 -- ?\n and c=$3"
        );
        assert_eq!(numbered("select 'é?'"), "select 'é?'");
    }
}
