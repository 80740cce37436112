//! Statistics of plain samples: what a number of values says, without knowing what
//! they are values of. Comparisons and verdicts are in `compare`.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::erfc;

/// The middle value, or the mean of the two middle ones; for display, as it ignores
/// rare stalls, which are part of the truth. `None` without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The arithmetic mean; `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation, in the unit of the values:
/// `sqrt(Σ(x - mean)² / (n - 1))`. `None` with fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// The geometric mean, `exp(mean of ln x)`: the mean that fits ratios and lognormal
/// values such as run times (Fleming and Wallace, CACM 29, 1986). `None` without
/// values or when one is not above zero.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logs: Vec<f64> = values
        .iter()
        .filter(|x| **x > 0.0)
        .map(|x| x.ln())
        .collect();
    if logs.len() < values.len() {
        return None;
    }
    mean(&logs).map(f64::exp)
}

/// The coefficient of variation (sd / mean) of a lognormal quantity whose logarithm
/// has the standard deviation `log_sd`: `sqrt(exp(log_sd²) - 1)`. Below 20 % the two
/// are nearly the same number.
pub fn lognormal_variation(log_sd: f64) -> f64 {
    log_sd.powi(2).exp_m1().sqrt()
}

/// P(Z ≤ z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

fn student(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df.max(1.0)).expect("scale is 1 and at least one degree of freedom")
}

/// P(T ≤ t) of Student's t distribution with `df` degrees of freedom (at least 1).
pub fn student_cdf(t: f64, df: f64) -> f64 {
    student(df).cdf(t)
}

/// The t that is exceeded with probability `tail` (0 to 1) by Student's t distribution
/// with `df` degrees of freedom (at least 1). Takes the tail rather than `1 - tail`,
/// so that the small tails of corrected intervals lose no digits.
pub fn student_upper(tail: f64, df: f64) -> f64 {
    -student(df).inverse_cdf(tail)
}

/// The mean of a series measured over time, with a standard error that knows that
/// neighbours resemble each other. A note on how steady one run was; never the base
/// of a verdict, because the next run may settle elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steadiness {
    /// The mean, in the unit of the series.
    pub mean: f64,
    /// The corrected standard error of the mean, in the unit of the series.
    pub standard_error: f64,
    /// How many independent values the series is worth; at most its length.
    pub independent: f64,
}

impl Steadiness {
    /// Of equally spaced values, for example transactions in each second. The number
    /// of values is divided by `τ = 1 + 2 Σ ρ_k`, where the sum over the
    /// autocorrelations is Geyer's initial monotone sequence (Statistical Science 7,
    /// 1992, §3.3): of pairs ρ_2k + ρ_2k+1, none counted for more than the one before,
    /// ending before the first that is not positive. A negative correlation is not used to claim more values than there
    /// are. `None` below eight values.
    pub fn of(series: &[f64]) -> Option<Self> {
        let n = series.len();
        let (mean, sd) = (mean(series)?, standard_deviation(series)?);
        if n < 8 {
            return None;
        }
        let covariance = |lag: usize| -> f64 {
            let products = series.iter().zip(&series[lag..]);
            products.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n as f64
        };
        let variance = covariance(0);
        let (mut tau, mut last) = (-1.0, f64::INFINITY);
        let mut lag = 0;
        while variance > 0.0 && lag + 1 < n {
            let pair = (covariance(lag) + covariance(lag + 1)) / variance;
            if pair <= 0.0 {
                break;
            }
            last = pair.min(last);
            tau += 2.0 * last;
            lag += 2;
        }
        let independent = n as f64 / tau.clamp(1.0, n as f64);
        Some(Steadiness {
            mean,
            standard_error: sd / independent.sqrt(),
            independent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4 * b.abs().max(1.0), "{a} is not {b}");
    }

    #[test]
    fn medians_and_moments() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(standard_deviation(&[1.0]), None);
        near(
            standard_deviation(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap(),
            2.13809,
        );
        near(geometric_mean(&[1.0, 10.0, 100.0]).unwrap(), 10.0);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[1.0, f64::NAN]), None);
        near(lognormal_variation(0.25), 0.25396);
    }

    /// Against the printed tables (for example NIST/SEMATECH e-Handbook, 1.3.6.7.2).
    #[test]
    fn quantiles_agree_with_the_tables() {
        near(student_upper(0.025, 1.0), 12.7062);
        near(student_upper(0.025, 2.0), 4.30265);
        near(student_upper(0.025, 9.0), 2.26216);
        near(student_upper(0.005, 9.0), 3.24984);
        near(student_upper(0.0005, 19.0), 3.88341);
        near(student_upper(0.025, 1e6), 1.95997);
        near(student_upper(0.00025, 1e6), 3.48077);
        near(student_cdf(2.26216, 9.0), 0.975);
        near(student_cdf(-1.0, 1.0), 0.25);
        near(normal_cdf(1.959964), 0.975);
    }

    /// An AR(1) series with φ = 0.8 is worth n (1 - φ) / (1 + φ) = n / 9 values.
    #[test]
    fn correlated_neighbours_count_for_less() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let (mut plain, mut correlated) = (Vec::new(), Vec::new());
        let mut state = 0.0;
        for _ in 0..4000 {
            let step: f64 = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
            state = 0.8 * state + step;
            plain.push(step);
            correlated.push(state);
        }
        let worth = |s: &[f64]| Steadiness::of(s).unwrap().independent / 4000.0;
        assert!(worth(&plain) > 0.85, "{}", worth(&plain));
        assert!(
            (0.07..0.15).contains(&worth(&correlated)),
            "{}",
            worth(&correlated)
        );
    }

    #[test]
    fn a_constant_series_has_no_error() {
        let steady = Steadiness::of(&[5.0; 20]).unwrap();
        assert_eq!((steady.mean, steady.standard_error), (5.0, 0.0));
        assert_eq!(steady.independent, 20.0);
        assert_eq!(Steadiness::of(&[5.0; 7]), None);
    }

    proptest! {
        #[test]
        fn the_quantile_undoes_the_cdf(tail in 1e-6..0.5f64, df in 1u32..200) {
            let t = student_upper(tail, f64::from(df));
            prop_assert!((student_cdf(-t, f64::from(df)) / tail - 1.0).abs() < 1e-6);
        }

        #[test]
        fn a_series_is_never_worth_more_than_its_length(
            series in proptest::collection::vec(-1e3..1e3f64, 8..60)
        ) {
            let steady = Steadiness::of(&series).unwrap();
            prop_assert!(steady.independent >= 1.0 - 1e-9);
            prop_assert!(steady.independent <= series.len() as f64 + 1e-9);
        }
    }
}
