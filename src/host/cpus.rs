//! CPU placement.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The CPUs this process may use, ascending.
pub fn allowed_cpus() -> Vec<usize> {
    match sched_getaffinity(Pid::from_raw(0)) {
        Ok(set) => (0..CpuSet::count())
            .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
            .collect(),
        Err(_) => vec![0],
    }
}

/// Binds the calling process to `cpus`; none means no change. Safe between fork and exec.
///
/// # Errors
/// The kernel's, when a CPU is not there or not allowed.
pub fn pin(cpus: &[usize]) -> std::io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu)?;
    }
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_can_be_bound_to_one_of_its_cpus() {
        let cpus = allowed_cpus();
        let last = *cpus.last().unwrap();
        std::thread::spawn(move || {
            pin(&[last]).unwrap();
            assert_eq!(allowed_cpus(), [last]);
        })
        .join()
        .unwrap();
        assert_eq!(allowed_cpus(), cpus);
    }
}
