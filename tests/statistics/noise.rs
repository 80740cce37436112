//! Synthetic benchmarks: figures of several cases, round by round, under kinds of noise
//! that real machines make.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A kind of noise. Each adds, on the log scale, something of the machine, which all
/// cases of a round share more or less, to noise of the case's own (standard deviation
/// `sd`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// A normal round effect of 3 sd; own noise normal.
    Normal,
    /// Round effect and own noise of Student's t with 3 degrees of freedom.
    HeavyTailed,
    /// A round effect as above; own noise exponential: a floor and a long way up.
    Skewed,
    /// The machine's state follows AR(1) from measurement to measurement, φ = 0.9,
    /// standard deviation 2 sd; own noise normal.
    Autocorrelated,
    /// The machine slows down by 2 sd a round, steadily; own noise normal.
    Drifting,
    /// In one round of ten something else runs on the machine: all takes 1.2 to 2 times
    /// as long, with three times the noise; own noise normal.
    OutlierRounds,
    /// One measurement in twenty stalls: 1.2 to 2 times as long; own noise normal.
    Stalls,
}

pub const ALL: [Noise; 7] = [
    Noise::Normal,
    Noise::HeavyTailed,
    Noise::Skewed,
    Noise::Autocorrelated,
    Noise::Drifting,
    Noise::OutlierRounds,
    Noise::Stalls,
];

/// A run in progress.
pub struct Run {
    noise: Noise,
    sd: f64,
    /// True log ratios of the cases to 100 s; the first is the baseline.
    truths: Vec<f64>,
    rng: ChaCha8Rng,
    state: f64,
}

impl Run {
    pub fn new(noise: Noise, sd: f64, truths: &[f64], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let state = if noise == Noise::Autocorrelated {
            2.0 * sd * normal(&mut rng)
        } else {
            0.0
        };
        Run {
            noise,
            sd,
            truths: truths.to_vec(),
            rng,
            state,
        }
    }

    /// The cases' figures from one more round, measured in shuffled order.
    pub fn round(&mut self) -> Vec<f64> {
        let mut order: Vec<usize> = (0..self.truths.len()).collect();
        order.shuffle(&mut self.rng);
        let disturbed = self.noise == Noise::OutlierRounds && self.rng.random_bool(0.1);
        let (shared, loud) = match disturbed {
            true => (self.stall(), 3.0),
            false => (self.shared(), 1.0),
        };
        let mut figures = vec![0.0; order.len()];
        for case in order {
            let log = self.truths[case] + shared + self.machine() + loud * self.own();
            figures[case] = 100.0 * log.exp();
        }
        figures
    }

    fn shared(&mut self) -> f64 {
        match self.noise {
            Noise::Normal | Noise::Skewed => 3.0 * self.sd * normal(&mut self.rng),
            Noise::HeavyTailed => 3.0 * self.sd * student3(&mut self.rng),
            _ => 0.0,
        }
    }

    fn machine(&mut self) -> f64 {
        let step = match self.noise {
            Noise::Autocorrelated => {
                let innovation = (1.0f64 - 0.81).sqrt() * 2.0 * self.sd;
                innovation * normal(&mut self.rng) - 0.1 * self.state
            }
            Noise::Drifting => 2.0 * self.sd / self.truths.len() as f64,
            _ => 0.0,
        };
        self.state += step;
        self.state
    }

    fn own(&mut self) -> f64 {
        match self.noise {
            Noise::HeavyTailed => self.sd * student3(&mut self.rng),
            Noise::Skewed => self.sd * exponential(&mut self.rng),
            Noise::Stalls if self.rng.random_bool(0.05) => {
                self.stall() + self.sd * normal(&mut self.rng)
            }
            _ => self.sd * normal(&mut self.rng),
        }
    }

    fn stall(&mut self) -> f64 {
        self.rng.random_range(1.2f64..2.0).ln()
    }
}

pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

/// Student's t with 3 degrees of freedom, brought to a standard deviation of 1.
pub fn student3(rng: &mut ChaCha8Rng) -> f64 {
    let squares: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
    normal(rng) / squares.sqrt()
}

/// Exponential with a standard deviation of 1.
pub fn exponential(rng: &mut ChaCha8Rng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}
