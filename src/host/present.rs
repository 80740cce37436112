//! What would disturb a measurement at this moment.

use std::fs;

use super::ledger;

/// Something that disturbs, and what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disturber {
    /// What there is.
    pub what: String,
    /// The way out.
    pub remedy: String,
}

/// Share of a second in which tasks wait, in per cent, that is worth telling.
const STALLED: f64 = 5.0;

/// Looks at load, frequency scaling, swap, pressure and other runs of mountmark.
pub fn disturbers() -> Vec<Disturber> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let mut found = Vec::new();
    found.extend(load(&text("/proc/loadavg"), super::allowed_cpus().len()));
    found.extend(governors(&governors_here()));
    found.extend(swap(&text("/proc/meminfo")));
    for kind in ["cpu", "io", "memory"] {
        found.extend(pressure(kind, &text(&format!("/proc/pressure/{kind}"))));
    }
    for other in ledger::running().unwrap_or_default() {
        found.push(Disturber {
            what: format!("run {} of mountmark (process {})", other.run_id, other.pid),
            remedy: "wait for its end".to_string(),
        });
    }
    found
}

fn load(loadavg: &str, cpus: usize) -> Option<Disturber> {
    let minute: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    // The one that asks is part of it.
    (minute > 0.5).then(|| Disturber {
        what: format!("a load of {minute} in the last minute, on {cpus} CPUs"),
        remedy: "stop what runs beside (top shows it), or wait".to_string(),
    })
}

fn governors_here() -> Vec<String> {
    let cpus = fs::read_dir("/sys/devices/system/cpu")
        .into_iter()
        .flatten();
    let governor = |entry: fs::DirEntry| {
        let path = entry.path().join("cpufreq/scaling_governor");
        Some(fs::read_to_string(path).ok()?.trim().to_string())
    };
    let mut found: Vec<String> = cpus.flatten().filter_map(governor).collect();
    found.sort();
    found.dedup();
    found
}

fn governors(names: &[String]) -> Option<Disturber> {
    let scaling = names.iter().any(|name| name != "performance");
    scaling.then(|| Disturber {
        what: format!("CPU frequencies change (governor {})", names.join(", ")),
        remedy: "cpupower frequency-set -g performance".to_string(),
    })
}

fn swap(meminfo: &str) -> Option<Disturber> {
    let kib = |key: &str| {
        let line = meminfo.lines().find(|line| line.starts_with(key))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    };
    let used = kib("SwapTotal:")?.checked_sub(kib("SwapFree:")?)?;
    (used > 0).then(|| Disturber {
        what: format!("{} MiB are swapped out", used.div_ceil(1024)),
        remedy: "free memory, then swapoff -a".to_string(),
    })
}

/// `some avg10=1.23 …`
fn pressure(kind: &str, text: &str) -> Option<Disturber> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let average = some.split("avg10=").nth(1)?.split_whitespace().next()?;
    let average: f64 = average.parse().ok()?;
    (average > STALLED).then(|| Disturber {
        what: format!("tasks waited for {kind} in {average} % of the last ten seconds"),
        remedy: "stop what runs beside, or wait".to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_has_none_of_them() {
        assert_eq!(load("0.10 0.2 0.3 1/99 7", 2), None);
        assert_eq!(governors(&[]), None);
        assert_eq!(governors(&["performance".into()]), None);
        assert_eq!(swap("SwapTotal: 100 kB\nSwapFree: 100 kB\n"), None);
        let calm = "some avg10=0.40 avg60=0.00 avg300=0.00 total=1\n";
        assert_eq!(pressure("io", calm), None);
        assert_eq!(pressure("io", ""), None);
    }

    #[test]
    fn each_is_told_with_a_way_out() {
        let told = |found: Option<Disturber>| found.unwrap().what;
        assert!(told(load("2.5 0.2 0.3 1/99 7", 2)).contains("a load of 2.5"));
        assert!(told(governors(&["powersave".into()])).contains("powersave"));
        assert!(told(swap("SwapTotal: 4096 kB\nSwapFree: 2048 kB\n")).contains("2 MiB"));
        let high = "some avg10=40.00 avg60=0.00 avg300=0.00 total=1\n";
        assert!(told(pressure("io", high)).contains("io in 40 %"));
    }
}
