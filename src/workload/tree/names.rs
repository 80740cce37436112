//! Names in an archive: what may be unpacked into our directory and what may not.

use crate::error::{Result, bail};

/// Where a name leads below the top, without a leading `./` and without a trailing
/// slash; `None` is the top itself.
///
/// # Errors
/// An absolute name, one with `..`, one that cannot be a file name.
pub(super) fn below(name: &[u8]) -> Result<Option<Vec<u8>>> {
    let shown = String::from_utf8_lossy(name);
    if name.is_empty() {
        bail!("an entry has no name");
    }
    if name.starts_with(b"/") {
        bail!("'{shown}' is an absolute name");
    }
    let mut parts = Vec::new();
    for part in name.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => bail!("'{shown}' leads out of the archive with '..'"),
            part if part.contains(&0) => bail!("'{shown}' is not a file name"),
            part => parts.push(part),
        }
    }
    Ok((!parts.is_empty()).then(|| parts.join(&b'/')))
}

/// Whether the symbolic link called `name` (as [`below`] gives it) to `target` leads to
/// a place below the top.
pub(super) fn stays_inside(name: &[u8], target: &[u8]) -> bool {
    if target.is_empty() || target.starts_with(b"/") || target.contains(&0) {
        return false;
    }
    let mut depth = name.iter().filter(|b| **b == b'/').count();
    for part in target.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    true
}

/// Parent and last part; the parent of what lies at the top is empty.
pub(super) fn split(name: &[u8]) -> (&[u8], &[u8]) {
    match name.iter().rposition(|b| *b == b'/') {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => (b"", name),
    }
}

/// The directories above a name, the nearest first.
pub(super) fn above(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = split(rest).0;
        (!rest.is_empty()).then_some(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_top() {
        assert_eq!(below(b"./a//b/").unwrap().unwrap(), b"a/b");
        assert_eq!(below(b"./").unwrap(), None);
        for bad in [&b"/etc/passwd"[..], b"a/../../b", b"..", b"", b"a\0b"] {
            assert!(below(bad).is_err(), "{bad:?}");
        }
        let message = below(b"a/../b").unwrap_err().to_string();
        assert!(message.contains("a/../b"), "{message}");
    }

    #[test]
    fn links_are_followed_in_thought() {
        assert!(stays_inside(b"a/b/link", b"../../c"));
        assert!(stays_inside(b"link", b"a"));
        assert!(!stays_inside(b"link", b"../a"));
        assert!(!stays_inside(b"a/link", b"b/../../.."));
        assert!(!stays_inside(b"a/link", b"/etc"));
        assert!(!stays_inside(b"a/link", b""));
    }

    #[test]
    fn names_come_apart() {
        assert_eq!(split(b"a/b/c"), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(split(b"a"), (&b""[..], &b"a"[..]));
        assert_eq!(above(b"a/b/c").collect::<Vec<_>>(), [&b"a/b"[..], b"a"]);
    }
}
