//! How clients and data are spread over databases: evenly, the first ones getting what
//! is left over.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The numbers that make a load case: one cell of the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Clients at work at the same time.
    pub clients: u32,
    /// Databases they are spread over.
    pub databases: u32,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let many = |n| if n == 1 { "" } else { "s" };
        let Cell { clients, databases } = *self;
        write!(
            f,
            "{clients} client{}, {databases} database{}",
            many(clients),
            many(databases)
        )
    }
}

impl Cell {
    /// Connections: one a client, or one a database where there are more databases; then
    /// a client takes its connections in turn, a transaction each.
    pub fn connections(self) -> u32 {
        self.clients.max(self.databases)
    }

    /// The databases that `client` (counted from 0) connects to, in the order in which it
    /// takes them.
    pub fn databases_of(self, client: u32) -> impl Iterator<Item = u32> {
        let Cell { clients, databases } = self;
        (client..self.connections())
            .step_by(clients as usize)
            .map(move |connection| connection % databases)
    }
}

/// The share of database `index` of `databases` in `total` units: the first
/// `total mod databases` get one more.
pub fn share(total: u64, databases: u32, index: u32) -> u64 {
    let (databases, index) = (u64::from(databases), u64::from(index));
    total / databases + u64::from(index < total % databases)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_add_up_and_differ_by_one(total in 0u64..1_000_000, databases in 1u32..300) {
            let shares: Vec<u64> = (0..databases).map(|d| share(total, databases, d)).collect();
            prop_assert_eq!(shares.iter().sum::<u64>(), total);
            prop_assert!(shares[0] - shares[databases as usize - 1] <= 1);
            prop_assert!(shares.windows(2).all(|w| w[0] >= w[1]));
        }

        #[test]
        fn every_database_has_its_connections(clients in 1u32..300, databases in 1u32..300) {
            let cell = Cell { clients, databases };
            let mut connections = vec![0u64; databases as usize];
            for client in 0..clients {
                let own: Vec<u32> = cell.databases_of(client).collect();
                prop_assert!(!own.is_empty());
                own.iter().for_each(|d| connections[*d as usize] += 1);
            }
            for (index, count) in connections.iter().enumerate() {
                let all = u64::from(cell.connections());
                prop_assert_eq!(*count, share(all, databases, index as u32));
            }
        }
    }
}
