//! Verdicts as they are printed.

use std::fmt;

use super::{Judgement, Unit, Verdict};

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
            Some(i) => write!(f, " ({:.3} to {:.3})", i.low(), i.high()),
            None => Ok(()),
        }
    }
}
