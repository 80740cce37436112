//! sysbench's distributions over a range of integers, as its version 1.0.20 draws them
//! (and its later ones, `zipfian`).

use super::random::Rng;

/// Most iterations of the bell: each costs a random number.
pub(super) const MOST_ITERATIONS: i64 = 1000;

impl Rng {
    /// The mean of `iterations` uniform numbers in `[0, 1)` (Bates).
    fn mean(&mut self, iterations: i64) -> f64 {
        let sum: f64 = (0..iterations).map(|_| self.unit()).sum();
        sum / iterations as f64
    }

    /// A bell around the middle: the mean of `iterations` uniform numbers, spread over the
    /// range.
    pub fn bates(&mut self, min: i64, count: i64, iterations: i64) -> i64 {
        let share = self.mean(iterations);
        min + ((share * count as f64) as i64).clamp(0, count - 1)
    }

    /// `hot` percent of the draws fall alike into a window of `percent` percent in the
    /// middle of the range, the others follow the bell over all of it.
    ///
    /// One uniform number both chooses between the two and, in the window, the place. As
    /// it is large there, only the upper `hot` percent of the window are ever met; that is
    /// sysbench's shape, and the reason why 75 % of its default draws hit 0.75 % of a
    /// large table.
    pub fn special(
        &mut self,
        min: i64,
        count: i64,
        (iterations, percent, hot): (i64, i64, i64),
    ) -> i64 {
        let width = (count - 1) as f64;
        let uniform = self.unit();
        let place = if uniform < 1.0 - hot as f64 / 100.0 {
            self.mean(iterations) * width
        } else {
            let window = width * percent as f64 / 100.0;
            (width - window) / 2.0 + uniform * (window + 1.0)
        };
        min + (place as i64).clamp(0, count - 1)
    }

    /// A uniform number to the power of `ln h / ln (1 - h)`, spread over the range: the
    /// lower `h` of it gets `1 - h` of the draws.
    pub fn pareto(&mut self, min: i64, count: i64, h: f64) -> i64 {
        let share = self.unit().powf(h.ln() / (1.0 - h).ln());
        min + ((share * count as f64) as i64).clamp(0, count - 1)
    }

    /// The k-th of the range with a weight of `k^-exponent`, for any exponent from 0 on.
    /// (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
    /// discrete distributions", 1996: a point below the integral of the hat, whose bar it
    /// must then fall into.)
    pub fn zipf(&mut self, min: i64, count: i64, exponent: f64) -> i64 {
        let hat = Hat(1.0 - exponent);
        let (left, right) = (hat.area(1.5) - 1.0, hat.area(count as f64 + 0.5));
        loop {
            let below = right + self.unit() * (left - right);
            let k = hat.place(below).round().clamp(1.0, count as f64);
            if below >= hat.area(k + 0.5) - (-exponent * k.ln()).exp() {
                return min + (k as i64 - 1);
            }
        }
    }
}

/// The hat `x^(slope - 1)`.
struct Hat(f64);

impl Hat {
    /// So near to a slope of 0 the integral is the logarithm.
    const FLAT: f64 = 1e-9;

    /// Its integral from 1 to `x`.
    fn area(&self, x: f64) -> f64 {
        let slope = self.0;
        match slope.abs() < Self::FLAT {
            true => x.ln(),
            false => (slope * x.ln()).exp_m1() / slope,
        }
    }

    /// The inverse of the integral.
    fn place(&self, area: f64) -> f64 {
        let slope = self.0;
        match slope.abs() < Self::FLAT {
            true => area.exp(),
            false => ((slope * area).max(-1.0).ln_1p() / slope).exp(),
        }
    }
}
