//! Verdicts as they are printed.

use std::fmt;

use super::{Interval, Judgement, Unit, Verdict};

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Faster => f.write_str("faster"),
            Verdict::Slower => f.write_str("slower"),
            Verdict::Equivalent { within } => write!(f, "equivalent (±{})", Percent(*within)),
            Verdict::Undecided { needs, unit } => {
                let many = match needs {
                    Some(n) => format!("about {n}"),
                    None => "more than 1000".to_string(),
                };
                let way_out = match needs {
                    Some(_) => "",
                    None => ", or less noise",
                };
                write!(f, "undecided (needs {many} {unit}{way_out})")
            }
            Verdict::NotComparable(reason) => write!(f, "not comparable ({reason})"),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Round => "rounds",
            Unit::Run => "runs a side",
        })
    }
}

/// A fraction in per cent: two digits below ten (`2 %`, `2.5 %`), none above.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let rounded = match percent.abs() {
            p if p < 1.0 => (percent * 100.0).round() / 100.0,
            p if p < 10.0 => (percent * 10.0).round() / 10.0,
            _ => percent.round(),
        };
        write!(f, "{rounded} %")
    }
}

/// `slower: 1.050 times the baseline (1.031 to 1.069)`
impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.estimate.ratio();
        write!(f, "{}: {ratio:.3} times the baseline", self.verdict)?;
        match self.interval {
            Some(i) => write!(f, " ({i})"),
            None => Ok(()),
        }
    }
}

/// `1.031 to 1.069`; an end beyond a hundredth or hundredfold says only that.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |ratio: f64| match ratio {
            r if r < 0.01 => "under 0.01".to_string(),
            r if r > 100.0 => "over 100".to_string(),
            r => format!("{r:.3}"),
        };
        write!(f, "{} to {}", end(self.low()), end(self.high()))
    }
}

#[cfg(test)]
mod tests {
    use crate::compare::{Estimate, Metric, Pair, Rule};

    #[test]
    fn the_ends_of_a_hopeless_interval_say_only_that() {
        let interval = |rounds: [f64; 2]| {
            let pairs = rounds.map(|new| Pair { base: 1.0, new });
            let estimate = Estimate::new(Metric::SECONDS, &pairs).expect("figures");
            let interval = estimate.interval(&Rule::default());
            interval.expect("two rounds").to_string()
        };
        assert_eq!(interval([0.4, 2.5]), "under 0.01 to over 100");
        assert_eq!(interval([1.0, 1.0]), "1.000 to 1.000");
    }
}
