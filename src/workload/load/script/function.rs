//! The functions of expressions: pgbench's, and those that draw as sysbench does.

use std::ops::RangeInclusive;

macro_rules! functions {
    ($($variant:ident $name:literal $least:literal ..= $most:literal,)*) => {
        /// A function that an expression can call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Function { $($variant,)* }

        impl Function {
            #[cfg(test)]
            pub const ALL: &[Function] = &[$(Function::$variant,)*];

            pub fn name(self) -> &'static str {
                match self { $(Function::$variant => $name,)* }
            }

            /// How many arguments it takes.
            pub fn arity(self) -> RangeInclusive<usize> {
                match self { $(Function::$variant => $least..=$most,)* }
            }

            /// By its name in lower case.
            pub fn named(name: &str) -> Option<Function> {
                match name {
                    $($name => Some(Function::$variant),)*
                    "power" => Some(Function::Pow),
                    _ => None,
                }
            }
        }
    };
}

/// The most arguments that a call can have.
pub(super) const MOST_ARGUMENTS: usize = 16;

functions! {
    Abs "abs" 1..=1,
    Debug "debug" 1..=1,
    Double "double" 1..=1,
    Exp "exp" 1..=1,
    Greatest "greatest" 1..=16,
    Hash "hash" 1..=2,
    HashFnv1a "hash_fnv1a" 1..=2,
    HashMurmur2 "hash_murmur2" 1..=2,
    Int "int" 1..=1,
    Least "least" 1..=16,
    Ln "ln" 1..=1,
    Mod "mod" 2..=2,
    Permute "permute" 2..=3,
    Pi "pi" 0..=0,
    Pow "pow" 2..=2,
    Random "random" 2..=2,
    RandomExponential "random_exponential" 3..=3,
    RandomGaussian "random_gaussian" 3..=3,
    RandomZipfian "random_zipfian" 3..=3,
    Sqrt "sqrt" 1..=1,
    SysbenchGaussian "sysbench_gaussian" 3..=3,
    SysbenchPareto "sysbench_pareto" 3..=3,
    SysbenchSpecial "sysbench_special" 5..=5,
    SysbenchZipfian "sysbench_zipfian" 3..=3,
}

impl Function {
    /// True for those that draw from a range, their first two arguments.
    pub fn draws(self) -> bool {
        use Function::*;
        matches!(
            self,
            Random
                | RandomExponential
                | RandomGaussian
                | RandomZipfian
                | SysbenchGaussian
                | SysbenchPareto
                | SysbenchSpecial
                | SysbenchZipfian
        )
    }

    /// True for those whose last argument defaults to the variable `default_seed`.
    pub fn takes_seed(self) -> bool {
        matches!(
            self,
            Function::Hash | Function::HashFnv1a | Function::HashMurmur2 | Function::Permute
        )
    }

    /// What is wrong with being called with `given` arguments.
    pub fn refuse(self, given: usize) -> Option<String> {
        let arity = self.arity();
        if arity.contains(&given) {
            return None;
        }
        let (least, most) = (*arity.start(), *arity.end());
        let takes = if least == most {
            format!("{least}")
        } else if most == MOST_ARGUMENTS {
            format!("{least} to {most}")
        } else {
            format!("{least} or {most}")
        };
        let s = if takes == "1" { "" } else { "s" };
        let name = self.name();
        Some(format!(
            "function '{name}' takes {takes} argument{s}, not {given}"
        ))
    }
}
