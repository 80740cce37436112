//! sysbench's distributions against their formulas.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::super::random::Rng;
use super::super::{Builtin, Keys, Values};

const DRAWS: usize = 200_000;

/// Draws from 11 on and compares with the chances of each value, few ones together.
fn fits(chances: &[f64], mut draw: impl FnMut(&mut Rng, i64, i64) -> i64) {
    let sum: f64 = chances.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "the formula sums to {sum}");
    let mut rng = Rng::new(7, 5);
    let mut counts = vec![0u64; chances.len()];
    for _ in 0..DRAWS {
        let drawn = draw(&mut rng, 11, chances.len() as i64);
        counts[usize::try_from(drawn - 11).expect("at or above the least")] += 1;
    }
    let (mut chi, mut cells) = (0.0, 0.0);
    let (mut seen, mut expected) = (0.0, 0.0);
    for (count, chance) in counts.iter().zip(chances) {
        seen += *count as f64;
        expected += chance * DRAWS as f64;
        if expected >= 20.0 {
            chi += (seen - expected) * (seen - expected) / expected;
            (seen, expected, cells) = (0.0, 0.0, cells + 1.0);
        }
    }
    let p = 1.0 - ChiSquared::new(cells - 1.0).expect("freedom").cdf(chi);
    assert!(p > 1e-4, "p {p}: {counts:?}");
}

/// The chance that the mean of `n` uniform numbers is below `x` (Irwin and Hall).
fn bates(n: u32, x: f64) -> f64 {
    if x > 0.5 {
        return 1.0 - bates(n, 1.0 - x);
    }
    let sum = x * f64::from(n);
    let (mut total, mut ways, mut factorial) = (0.0, 1.0, 1.0);
    for j in 0..=n {
        if sum <= f64::from(j) {
            break;
        }
        let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
        total += sign * ways * (sum - f64::from(j)).powi(n as i32);
        ways *= f64::from(n - j) / f64::from(j + 1);
    }
    for k in 1..=n {
        factorial *= f64::from(k);
    }
    total / factorial
}

#[test]
fn the_bell_is_the_mean_of_uniform_numbers() {
    for n in [1, 3, 12] {
        let chances: Vec<f64> = (0..40)
            .map(|k| bates(n, f64::from(k + 1) / 40.0) - bates(n, f64::from(k) / 40.0))
            .collect();
        fits(&chances, |rng, min, count| {
            rng.bates(min, count, i64::from(n))
        });
    }
}

/// Both parts: the bell over the whole width, and the upper part of the window.
#[test]
fn special_is_a_bell_with_a_hot_window() {
    for (count, percent, hot) in [(1000, 1, 75), (300, 20, 40), (50, 0, 90)] {
        let width = f64::from(count - 1);
        let share = f64::from(hot) / 100.0;
        let window = width * f64::from(percent) / 100.0;
        let start = (width - window) / 2.0;
        let (from, to) = (start + (1.0 - share) * (window + 1.0), start + window + 1.0);
        let chances: Vec<f64> = (0..count)
            .map(|k| {
                let (low, high) = (f64::from(k), f64::from(k + 1));
                let bell = bates(12, (high / width).min(1.0)) - bates(12, low / width);
                let inside = (high.min(to) - low.max(from)).max(0.0) / (to - from);
                (1.0 - share) * bell + share * inside
            })
            .collect();
        let parameters = (12, i64::from(percent), i64::from(hot));
        fits(&chances, |rng, min, count| {
            rng.special(min, count, parameters)
        });
    }
}

#[test]
fn pareto_gives_the_lower_part_the_larger_share() {
    for h in [0.2f64, 0.35] {
        let power = (1.0 - h).ln() / h.ln();
        let chances: Vec<f64> = (0..50)
            .map(|k| (f64::from(k + 1) / 50.0).powf(power) - (f64::from(k) / 50.0).powf(power))
            .collect();
        let lower: f64 = chances[..(50.0 * h).round() as usize].iter().sum();
        assert!((lower - (1.0 - h)).abs() < 0.01, "h {h}: {lower}");
        fits(&chances, |rng, min, count| rng.pareto(min, count, h));
    }
}

#[test]
fn zipfian_falls_with_any_exponent() {
    for exponent in [0.0, 0.8, 1.0, 2.5] {
        let weights: Vec<f64> = (1..=60).map(|k| f64::from(k).powf(-exponent)).collect();
        let sum: f64 = weights.iter().sum();
        let chances: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        fits(&chances, |rng, min, count| rng.zipf(min, count, exponent));
    }
}

#[test]
fn the_widest_and_narrowest_ranges_stay_inside() {
    let mut rng = Rng::new(1, 1);
    for _ in 0..1000 {
        for (min, count) in [(i64::MIN, i64::MAX), (0, i64::MAX), (5, 1), (5, 2)] {
            let max = min + (count - 1);
            let drawn = [
                rng.bates(min, count, 12),
                rng.special(min, count, (12, 1, 75)),
                rng.special(min, count, (1, 100, 99)),
                rng.pareto(min, count, 0.2),
                rng.zipf(min, count, 0.8),
            ];
            assert!(drawn.iter().all(|d| (min..=max).contains(d)), "{drawn:?}");
        }
    }
}

/// Every key of a built-in script is drawn as asked, its table always alike.
#[test]
fn the_distribution_goes_into_the_script() {
    let builtin = Builtin::named("oltp_read_write").unwrap();
    let text = builtin.text(Values::InText, 1, &Keys::default());
    assert_eq!(
        text.matches("sysbench_special(1, :table_size, 12, 1, 75)")
            .count(),
        18
    );
    assert!(!text.contains("random(1, :table_size)"));
    assert!(text.contains("\\set table random(1, :tables)"));
    let uniform = builtin.text(Values::InText, 1, &Keys::Uniform);
    assert_eq!(uniform.matches("random(1, :table_size)").count(), 18);
    let pgbench = Builtin::named("tpcb-like").unwrap();
    let plain = pgbench.text(Values::InText, 1, &Keys::Uniform);
    assert_eq!(pgbench.text(Values::InText, 1, &Keys::default()), plain);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (call, said) in [
        (
            "sysbench_special(1, 9, 0, 1, 75)",
            "the iterations given to sysbench_special",
        ),
        (
            "sysbench_special(1, 9, 12, 101, 75)",
            "from 0 to 100, not 101",
        ),
        (
            "sysbench_special(1, 9, 12, 1, 100)",
            "from 0 to 99, not 100",
        ),
        ("sysbench_pareto(1, 9, 1)", "must be between 0 and 1"),
        ("sysbench_zipfian(1, 9, -0.5)", "must be zero or above"),
        (
            "sysbench_gaussian(9, 1, 12)",
            "the range given to sysbench_gaussian is empty",
        ),
    ] {
        let text = format!("\\set k {call}\nSELECT :k;");
        let mut machine = super::machine(&text, &[]);
        let error = super::transaction(&mut machine).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
