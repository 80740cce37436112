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

/// Whether this thread and the process `pid` may run at the same moment: they have two CPUs
/// between them.
pub fn have_two_cpus(pid: i32) -> bool {
    let other = sched_getaffinity(Pid::from_raw(pid)).unwrap_or_default();
    let own = sched_getaffinity(Pid::from_raw(0)).unwrap_or_default();
    let either = |cpu: &usize| [own, other].iter().any(|set| set.is_set(*cpu) == Ok(true));
    (0..CpuSet::count()).filter(either).nth(1).is_some()
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

/// Keeps the calling thread off some CPUs until this is dropped.
#[derive(Debug)]
pub struct Away {
    before: Vec<usize>,
}

/// Moves the calling thread away from the CPUs that are `measured`, if there is another
/// one; processes that it starts meanwhile inherit that.
pub fn keep_away(measured: &[usize]) -> Option<Away> {
    let before = allowed_cpus();
    let others: Vec<usize> = before
        .iter()
        .copied()
        .filter(|cpu| !measured.contains(cpu))
        .collect();
    if measured.is_empty() || others.is_empty() {
        return None;
    }
    pin(&others).ok()?;
    Some(Away { before })
}

impl Drop for Away {
    fn drop(&mut self) {
        // It could be used before: nothing has taken it away.
        drop(pin(&self.before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_be_kept_away_from_a_cpu_for_a_while() {
        std::thread::spawn(|| {
            let cpus = allowed_cpus();
            let last = *cpus.last().unwrap();
            let away = keep_away(&[last]);
            assert_eq!(away.is_some(), cpus.len() > 1);
            assert_eq!(allowed_cpus().contains(&last), cpus.len() == 1);
            drop(away);
            assert_eq!(allowed_cpus(), cpus);
            assert!(keep_away(&[]).is_none());
            assert!(keep_away(&cpus).is_none());
        })
        .join()
        .unwrap();
    }

    #[test]
    fn two_cpus_are_told_from_one() {
        let own = i32::try_from(std::process::id()).unwrap();
        std::thread::spawn(move || {
            let cpus = allowed_cpus();
            assert_eq!(have_two_cpus(own), cpus.len() > 1);
            // The thread by itself; 0 is the caller.
            pin(&cpus[..1]).unwrap();
            assert!(!have_two_cpus(0));
            if cpus.len() > 1 {
                assert!(have_two_cpus(own), "the process has the others still");
            }
        })
        .join()
        .unwrap();
    }

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
