//! What is in the table, to know the rows of every selection.

use super::Counts;

/// Rows by region and group; rows are known by their number as well.
pub(super) struct Model {
    loops: u64,
    regions: u64,
    groups: u64,
    rows: Vec<u64>,
}

/// Which groups, or which pairs of region and group, a list names.
pub(super) struct Named {
    groups: u64,
    groups_named: Vec<bool>,
    pairs_named: Vec<bool>,
}

impl Named {
    pub fn group(&mut self, group: u64) {
        self.groups_named[group as usize] = true;
    }

    pub fn pair(&mut self, region: u64, group: u64) {
        self.pairs_named[(region * self.groups + group) as usize] = true;
    }
}

impl Model {
    pub fn new(counts: &Counts) -> Self {
        let Counts {
            loops,
            regions,
            groups,
            ..
        } = *counts;
        let mut model = Model {
            loops,
            regions,
            groups,
            rows: vec![0; (regions * groups) as usize],
        };
        for id in 0..loops {
            let (region, group) = model.of_row(id);
            model.rows[(region * groups + group) as usize] += 1;
        }
        model
    }

    fn of_row(&self, id: u64) -> (u64, u64) {
        (id % self.regions, 3 * id % self.groups)
    }

    /// Rows whose region and group fit.
    fn count(&self, fits: impl Fn(u64, u64) -> bool) -> u64 {
        let place = |at: usize| (at as u64 / self.groups, at as u64 % self.groups);
        self.rows
            .iter()
            .enumerate()
            .filter(|(at, _)| {
                let (region, group) = place(*at);
                fits(region, group)
            })
            .map(|(_, rows)| rows)
            .sum()
    }

    /// Groups that have rows.
    pub fn groups(&self) -> u64 {
        (0..self.groups)
            .filter(|group| self.count(|_, g| g == *group) > 0)
            .count() as u64
    }

    /// Rows of the seven selections of `select_big`.
    pub fn big(&self, region: u64, group: u64, number: u64) -> [u64; 7] {
        let there = |id: Option<u64>| {
            let fits = |id| id < self.loops && self.of_row(id).0 == region;
            u64::from(id.is_some_and(fits))
        };
        [
            self.count(|r, _| r == region),
            there(Some(number)),
            there((self.loops - 1).checked_sub(number)),
            self.count(|r, g| r == region && g == group),
            self.count(|r, g| (1..=2).contains(&r) && g == group),
            self.count(|r, g| (1..=4).contains(&r) && g == group),
            self.count(|_, g| g == group),
        ]
    }

    /// Lists that name group 1, and group 1 of the first region.
    pub fn lists(&self) -> Named {
        let mut named = Named {
            groups: self.groups,
            groups_named: vec![false; self.groups as usize],
            pairs_named: vec![false; self.rows.len()],
        };
        named.group(1);
        named.pair(0, 1);
        named
    }

    /// Rows of the selections of `select_range`: of the groups in a region, of the pairs,
    /// of the first among the rows below 50, and of the first or the groups below 10 of
    /// the first region, up to the second region.
    pub fn range(&self, region: u64, named: &Named) -> [u64; 4] {
        let in_groups = |r, g: u64| r == region && named.groups_named[g as usize];
        let below = (0..self.loops.min(50)).filter(|id| {
            let (r, g) = self.of_row(*id);
            in_groups(r, g)
        });
        [
            self.count(in_groups),
            self.count(|r, g| named.pairs_named[(r * self.groups + g) as usize]),
            below.count() as u64,
            self.count(|r, g| (in_groups(r, g) || (r == 0 && g < 10)) && r <= 1),
        ]
    }
}
