//! From figures to places on a chart.

/// A line of numbers with its ticks.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    is_log: bool,
    ticks: Vec<f64>,
}

impl Scale {
    /// From zero to `high`, with a few round ticks.
    pub fn from_zero(high: f64) -> Self {
        let high = if high.is_finite() && high > 0.0 {
            high
        } else {
            1.0
        };
        let step = round_up(high / 5.0);
        let ticks = (0..).map(|n| f64::from(n) * step);
        Scale {
            low: 0.0,
            high,
            is_log: false,
            // Sums of steps miss the end by a hair.
            ticks: ticks.take_while(|t| *t <= high * 1.000_001).collect(),
        }
    }

    /// Logarithmic, from `low` to `high`, both above zero; at least a little apart.
    pub fn log(low: f64, high: f64) -> Self {
        let low = if low.is_finite() && low > 0.0 {
            low
        } else {
            1.0
        };
        let high = if high.is_finite() {
            high.max(low * 1.01)
        } else {
            low * 10.0
        };
        let decades = (high / low).log10();
        let steps: &[f64] = match decades {
            d if d > 2.5 => &[1.0],
            d if d > 1.2 => &[1.0, 3.0],
            d if d > 0.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0],
        };
        let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
        let ticks =
            (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        let fits = |t: &f64| *t >= low * 0.999_999 && *t <= high * 1.000_001;
        Scale {
            low,
            high,
            is_log: true,
            ticks: ticks.filter(fits).collect(),
        }
    }

    /// Of ratios: logarithmic, with 1 on it, wide enough for all of `ratios` up to a
    /// factor of fifty.
    pub fn of_ratios(ratios: impl IntoIterator<Item = f64>) -> Self {
        let (mut low, mut high) = (1.0f64 / 1.05, 1.05f64);
        for ratio in ratios.into_iter().filter(|r| r.is_finite() && *r > 0.0) {
            low = low.min(ratio);
            high = high.max(ratio);
        }
        let (low, high) = (low.max(0.02) / 1.02, high.min(50.0) * 1.02);
        const TICKS: [f64; 17] = [
            0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0,
            50.0,
        ];
        let mut scale = Scale {
            low,
            high,
            is_log: true,
            ticks: Vec::new(),
        };
        scale.ticks = TICKS
            .into_iter()
            .filter(|t| *t >= low && *t <= high)
            .collect();
        scale.thin();
        scale
    }

    /// Takes out the ticks that would stand too near to one another; 1 always stays.
    fn thin(&mut self) {
        const APART: f64 = 0.16;
        let one = self.at(1.0);
        let mut kept = vec![one];
        let mut ticks = vec![1.0];
        for tick in self.ticks.clone() {
            let at = self.at(tick);
            if kept.iter().all(|other: &f64| (at - other).abs() >= APART) {
                kept.push(at);
                ticks.push(tick);
            }
        }
        ticks.sort_by(f64::total_cmp);
        self.ticks = ticks;
    }

    /// Where `value` stands: 0 at the low end, 1 at the high one; what is beyond stands at
    /// the end.
    pub fn at(&self, value: f64) -> f64 {
        let place = match self.is_log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        if place.is_nan() {
            0.0
        } else {
            place.clamp(0.0, 1.0)
        }
    }

    /// The ticks.
    pub fn ticks(&self) -> &[f64] {
        &self.ticks
    }
}

/// The next of 1, 2, 2.5, 5, 10, … times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0];
    let found = steps
        .iter()
        .find(|step| **step * power >= value * 0.999_999);
    found.copied().unwrap_or(10.0) * power
}

/// A place or a length as an attribute: per cent with two digits.
pub(super) fn percent(place: f64) -> String {
    let text = format!("{:.2}", place * 100.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}%")
}

/// A number beside an axis, short.
pub(super) fn tick(value: f64) -> String {
    let short = |value: f64| {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    match value.abs() {
        v if v >= 1e6 => format!("{}M", short(value / 1e6)),
        v if v >= 1e4 => format!("{}k", short(value / 1e3)),
        v if v >= 1e-3 || v == 0.0 => short(value),
        _ => format!("{value:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Scale::from_zero(9.7).ticks(), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(
            Scale::from_zero(0.05).ticks(),
            [0.0, 0.01, 0.02, 0.03, 0.04, 0.05]
        );
        assert_eq!(Scale::log(0.5, 2000.0).ticks(), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(Scale::from_zero(0.0).ticks().first(), Some(&0.0));
    }

    #[test]
    fn one_is_on_every_scale_of_ratios() {
        for ratios in [
            vec![],
            vec![1.4, 2.2],
            vec![0.3],
            vec![1e9, 1e-9],
            vec![f64::NAN],
        ] {
            let scale = Scale::of_ratios(ratios.clone());
            assert!(scale.ticks().contains(&1.0), "{ratios:?}");
            for ratio in ratios {
                assert!((0.0..=1.0).contains(&scale.at(ratio)));
            }
        }
    }

    #[test]
    fn places_are_short() {
        assert_eq!(percent(0.5), "50%");
        assert_eq!(percent(1.0 / 3.0), "33.33%");
        assert_eq!(percent(0.0), "0%");
        assert_eq!(tick(12_500.0), "12.5k");
        assert_eq!(tick(0.25), "0.25");
        assert_eq!(tick(2_000_000.0), "2M");
    }
}
