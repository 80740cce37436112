//! What was typed about the keys of sysbench's scripts; the flags are sysbench's.

use crate::error::{Result, usage};
use crate::workload::load::script::{
    HOT, ITERATIONS, KeyType, Keys, PARETO_H, PERCENT, ZIPFIAN_EXPONENT,
};

/// How sysbench's scripts choose their keys.
#[derive(Debug, Default, clap::Args)]
pub struct KeyArgs {
    /// Keys of sysbench's scripts: special (the default, as in sysbench: 75 % of them in
    /// the middle 1 % of the table), uniform, gaussian, pareto, zipfian
    #[arg(long, value_name = "TYPE")]
    pub rand_type: Option<KeyType>,

    /// Iterations of special and gaussian (12)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rand_spec_iter: Option<u32>,

    /// Width of special's hot part, percent of the table (1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub rand_spec_pct: Option<u32>,

    /// Keys that special takes from its hot part, percent (75)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=99))]
    pub rand_spec_res: Option<u32>,

    /// pareto's h (0.2)
    #[arg(long, value_name = "H")]
    pub rand_pareto_h: Option<f64>,

    /// zipfian's exponent (0.8)
    #[arg(long, value_name = "EXPONENT")]
    pub rand_zipfian_exp: Option<f64>,
}

impl KeyArgs {
    /// A flag that was given, if any was.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            (self.rand_type.is_some(), "--rand-type"),
            (self.rand_spec_iter.is_some(), ITER),
            (self.rand_spec_pct.is_some(), PCT),
            (self.rand_spec_res.is_some(), RES),
            (self.rand_pareto_h.is_some(), PARETO),
            (self.rand_zipfian_exp.is_some(), ZIPFIAN),
        ];
        let given = given.iter().find(|(given, _)| *given);
        given.map(|(_, name)| *name)
    }

    /// The distribution with its parameters.
    ///
    /// # Errors
    /// A parameter of another distribution, or one that is out of its range.
    pub fn keys(&self) -> Result<Keys> {
        let kind = self.rand_type.unwrap_or(KeyType::Special);
        let iterations = self.rand_spec_iter.unwrap_or(ITERATIONS);
        let (keys, own): (Keys, &[&str]) = match kind {
            KeyType::Uniform => (Keys::Uniform, &[]),
            KeyType::Gaussian => (Keys::Gaussian { iterations }, &[ITER]),
            KeyType::Special => (
                Keys::Special {
                    iterations,
                    percent: self.rand_spec_pct.unwrap_or(PERCENT),
                    hot: self.rand_spec_res.unwrap_or(HOT),
                },
                &[ITER, PCT, RES],
            ),
            KeyType::Pareto => (
                Keys::Pareto {
                    h: self.rand_pareto_h.unwrap_or(PARETO_H),
                },
                &[PARETO],
            ),
            KeyType::Zipfian => (
                Keys::Zipfian {
                    exponent: self.rand_zipfian_exp.unwrap_or(ZIPFIAN_EXPONENT),
                },
                &[ZIPFIAN],
            ),
        };
        let given = [
            (self.rand_spec_iter.is_some(), ITER),
            (self.rand_spec_pct.is_some(), PCT),
            (self.rand_spec_res.is_some(), RES),
            (self.rand_pareto_h.is_some(), PARETO),
            (self.rand_zipfian_exp.is_some(), ZIPFIAN),
        ];
        let mut strange = given.iter().filter(|(given, n)| *given && !own.contains(n));
        if let Some((_, name)) = strange.next() {
            return Err(usage(format!(
                "{name} is no parameter of --rand-type {kind}"
            )));
        }
        match keys {
            Keys::Pareto { h } if !(h > 0.0 && h < 1.0) => {
                Err(usage(format!("{PARETO} {h}: a number between 0 and 1")))
            }
            Keys::Zipfian { exponent } if !(exponent.is_finite() && exponent >= 0.0) => {
                Err(usage(format!("{ZIPFIAN} {exponent}: a number from 0 on")))
            }
            keys => Ok(keys),
        }
    }
}

const ITER: &str = "--rand-spec-iter";
const PCT: &str = "--rand-spec-pct";
const RES: &str = "--rand-spec-res";
const PARETO: &str = "--rand-pareto-h";
const ZIPFIAN: &str = "--rand-zipfian-exp";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_sysbenchs_own() {
        assert_eq!(KeyArgs::default().keys().unwrap(), Keys::default());
        let zipfian = KeyArgs {
            rand_type: Some(KeyType::Zipfian),
            ..KeyArgs::default()
        };
        assert_eq!(zipfian.keys().unwrap(), Keys::Zipfian { exponent: 0.8 });
    }

    #[test]
    fn parameters_of_others_and_outside_their_ranges_are_refused() {
        let said = |args: KeyArgs| args.keys().unwrap_err().to_string();
        let uniform = KeyArgs {
            rand_type: Some(KeyType::Uniform),
            rand_spec_pct: Some(5),
            ..KeyArgs::default()
        };
        assert_eq!(
            said(uniform),
            "--rand-spec-pct is no parameter of --rand-type uniform"
        );
        let pareto = KeyArgs {
            rand_type: Some(KeyType::Pareto),
            rand_pareto_h: Some(1.0),
            ..KeyArgs::default()
        };
        assert_eq!(said(pareto), "--rand-pareto-h 1: a number between 0 and 1");
    }
}
