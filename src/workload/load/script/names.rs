//! Variables by number.

use std::collections::HashMap;

/// A variable of one program, or of a mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VarId(pub u32);

impl VarId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The names of variables and their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    names: Vec<Box<str>>,
    numbers: HashMap<Box<str>, VarId>,
}

impl Names {
    /// The number of `name`, a new one when it has none.
    pub fn number(&mut self, name: &str) -> VarId {
        if let Some(found) = self.find(name) {
            return found;
        }
        let id = VarId(self.names.len() as u32);
        self.names.push(name.into());
        self.numbers.insert(name.into(), id);
        id
    }

    pub fn find(&self, name: &str) -> Option<VarId> {
        self.numbers.get(name).copied()
    }

    pub fn name(&self, id: VarId) -> &str {
        &self.names[id.index()]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// In order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (VarId, &str)> {
        let numbered = self.names.iter().enumerate();
        numbered.map(|(n, name)| (VarId(n as u32), name.as_ref()))
    }
}

/// Whether `c` can stand in a variable's name.
pub(super) fn is_name_char(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_' || !c.is_ascii()
}

/// Whether `name` can be a variable's name: letters, digits, `_`, not beginning with a
/// digit.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && reference_length(name) == name.len()
}

/// The length of the name that begins `text`, whose first character is no digit; 0 for
/// none. This is what follows a `:` in SQL.
pub(super) fn reference_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first().is_none_or(u8::is_ascii_digit) {
        return 0;
    }
    bytes.iter().take_while(|b| is_name_char(**b)).count()
}
