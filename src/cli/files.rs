//! The workloads without a server: their arguments, and the cells that they make.

use std::path::PathBuf;

use super::args::RunArgs;
use crate::engine::Settings;
use crate::error::{Result, ensure, usage};
use crate::plan::Cpus;
use crate::workload::{sync, tree};

/// Arguments of `tree` and `sync`.
#[derive(Debug, clap::Args)]
pub struct FilesArgs {
    /// Workload tree: factor on the size of the generated trees; 1 is a million little files
    /// (1.1 GB), and a source tree of 295 MB that is copied twice (0.03, and 0.2)
    #[arg(long, value_name = "FACTOR")]
    pub tree_scale: Option<f64>,

    /// Workload tree: threads that work at once; only 1 can be compared with other tools
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1",
          value_parser = clap::value_parser!(u16).range(1..=64))]
    pub tree_jobs: Vec<u16>,

    /// Workload tree: an archive of yours (.tar, .tar.gz, .tar.bz2, .tar.zst) in place of the
    /// generated ones; it is decompressed once, outside the measured time
    #[arg(long, value_name = "FILE")]
    pub tree_archive: Option<PathBuf>,

    /// Workload tree: order of the files in the archive: generated, shuffled
    #[arg(
        long,
        value_name = "ORDER",
        value_delimiter = ',',
        default_value = "generated"
    )]
    pub order: Vec<tree::Order>,

    /// Workload sync: calls of each shape, at most two seconds' worth
    #[arg(long, value_name = "N", default_value_t = sync::Options::CALLS,
          value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub sync_calls: u64,
}

/// What `name` stands for among the workloads without a server, if it is one: each with
/// the settings of its cells.
///
/// # Errors
/// A value out of range; an archive that is not there.
pub(super) fn cells(name: &str, args: &FilesArgs) -> Result<Vec<(String, Vec<Settings>)>> {
    if name == sync::WORKLOAD {
        let options = sync::Options {
            calls: args.sync_calls,
        };
        return Ok(vec![(name.to_string(), vec![options.settings()])]);
    }
    let mut trees = tree::WORKLOADS.to_vec();
    trees.retain(|tree| name == "tree" || name == *tree);
    if trees.is_empty() {
        return Ok(Vec::new());
    }
    trees
        .into_iter()
        .map(|tree| Ok((tree.to_string(), tree_cells(tree, args)?)))
        .collect()
}

/// What is to be said where several jobs are to share a CPU.
pub(super) fn crowded(args: &RunArgs, files: &[(String, Vec<Settings>)]) -> Option<String> {
    let jobs = args.files.tree_jobs.iter().find(|jobs| **jobs > 1)?;
    let trees = files.iter().any(|(name, _)| name != sync::WORKLOAD);
    let free = !args.cpus.is_empty() && args.cpus.iter().all(|cpus| *cpus == Cpus::Free);
    (trees && !free)
        .then(|| format!("the {jobs} jobs of a tree share one CPU; add --cpus free for more"))
}

/// The names that [`cells`] knows.
pub(super) fn names() -> Vec<&'static str> {
    let mut names = vec!["tree"];
    names.extend(tree::WORKLOADS);
    names.push(sync::WORKLOAD);
    names
}

fn tree_cells(tree: &str, args: &FilesArgs) -> Result<Vec<Settings>> {
    let usual = tree::Options::usual_scale(tree);
    let scale = args.tree_scale.unwrap_or(usual);
    ensure!(
        scale > 0.0 && scale <= 100.0,
        usage(format!(
            "--tree-scale {scale} is not a factor above 0 and up to 100"
        ))
    );
    let archive = match &args.tree_archive {
        None => None,
        Some(path) => Some(
            path.canonicalize()
                .map_err(|error| usage(format!("--tree-archive {}: {error}", path.display())))?,
        ),
    };
    let mut cells = Vec::new();
    for order in &args.order {
        for jobs in &args.tree_jobs {
            let options = tree::Options {
                scale,
                order: *order,
                jobs: usize::from(*jobs),
                archive: archive.clone(),
            };
            cells.push(options.settings());
        }
    }
    Ok(cells)
}
