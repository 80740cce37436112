//! The variables and random numbers of one client.

use super::eval::Scope;
use super::mix::Mix;
use super::names::VarId;
use super::random::Rng;
use super::value::{Param, Value};

/// What one client starts with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The number of the client, from 0; the variable `client_id`.
    pub client_id: i64,
    /// The variable `scale`.
    pub scale: i64,
    /// The seed of the run, common to all clients; the variable `random_seed`.
    pub random_seed: u64,
    /// Given with `-D`: they go before the automatic ones of the same name.
    pub defines: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Slot {
    Unset,
    /// Look into the texts.
    Text,
    Is(Value),
}

/// The variables of one client, by their number in the mix, and its generator.
#[derive(Debug)]
pub(super) struct Memory {
    slots: Vec<Slot>,
    texts: Vec<String>,
    pub rng: Rng,
    saved: Saved,
    /// What `debug()` printed and nobody took.
    pub printed: Vec<String>,
}

#[derive(Debug)]
struct Saved {
    slots: Vec<Slot>,
    texts: Vec<String>,
    rng: Rng,
}

impl Memory {
    pub fn new(setup: &Setup, mix: &Mix) -> Self {
        let rng = Rng::new(setup.random_seed, (setup.client_id as u64) << 1);
        let mut memory = Memory {
            slots: vec![Slot::Unset; mix.names.len()],
            texts: vec![String::new(); mix.names.len()],
            saved: Saved {
                slots: Vec::new(),
                texts: Vec::new(),
                rng: rng.clone(),
            },
            rng,
            printed: Vec::new(),
        };
        let default_seed = Rng::new(setup.random_seed, u64::MAX).next();
        let automatic = [
            ("client_id", setup.client_id),
            ("default_seed", default_seed as i64),
            ("random_seed", setup.random_seed as i64),
            ("scale", setup.scale),
        ];
        for (name, value) in automatic {
            if let Some(var) = mix.names.find(name) {
                memory.set(var, Value::Int(value));
            }
        }
        for (name, text) in &setup.defines {
            if let Some(var) = mix.names.find(name) {
                memory.text(var).push_str(text);
            }
        }
        memory.save();
        memory
    }

    pub fn set(&mut self, var: VarId, value: Value) {
        self.slots[var.index()] = Slot::Is(value);
    }

    /// Makes the variable a text, empty, for the caller to fill.
    pub fn text(&mut self, var: VarId) -> &mut String {
        self.slots[var.index()] = Slot::Text;
        let text = &mut self.texts[var.index()];
        text.clear();
        text
    }

    /// The value; `None` when it was never set.
    pub fn get(&self, var: VarId) -> Option<Param<'_>> {
        match self.slots[var.index()] {
            Slot::Unset => None,
            Slot::Text => Some(Param::Text(&self.texts[var.index()])),
            Slot::Is(value) => Some(value.into()),
        }
    }

    /// Remembers everything, to come back to.
    pub fn save(&mut self) {
        self.saved.slots.clone_from(&self.slots);
        self.saved.texts.clone_from(&self.texts);
        self.saved.rng.clone_from(&self.rng);
    }

    /// As it was when saved.
    pub fn restore(&mut self) {
        self.slots.clone_from(&self.saved.slots);
        self.texts.clone_from(&self.saved.texts);
        self.rng.clone_from(&self.saved.rng);
    }
}

/// The memory as one command of one program sees it.
pub(super) struct View<'a> {
    pub memory: &'a mut Memory,
    /// The program's variables among those of the mix.
    pub map: &'a [VarId],
    pub mix: &'a Mix,
    pub script: usize,
    pub command: usize,
}

impl View<'_> {
    pub fn global(&self, var: VarId) -> VarId {
        self.map[var.index()]
    }
}

impl Scope for View<'_> {
    fn variable(&self, var: VarId) -> Result<Value, String> {
        let var = self.global(var);
        let name = || self.mix.names.name(var);
        match self.memory.get(var) {
            Some(Param::Text(text)) => Value::read(text).ok_or_else(|| {
                let name = name();
                format!("the variable '{name}' is '{text}', which is no value to calculate with")
            }),
            Some(Param::Null) => Ok(Value::Null),
            Some(Param::Bool(b)) => Ok(Value::Bool(b)),
            Some(Param::Int(n)) => Ok(Value::Int(n)),
            Some(Param::Double(d)) => Ok(Value::Double(d)),
            None => Err(format!("the variable '{}' has no value yet", name())),
        }
    }

    fn rng(&mut self) -> &mut Rng {
        &mut self.memory.rng
    }

    fn debug(&mut self, value: Value) {
        let kind = match value {
            Value::Null => "null".to_string(),
            Value::Bool(b) => format!("boolean {b}"),
            Value::Int(n) => format!("int {n}"),
            Value::Double(_) => format!("double {value}"),
        };
        let (script, command) = (self.script, self.command + 1);
        self.memory
            .printed
            .push(format!("debug(script={script},command={command}): {kind}"));
    }
}
