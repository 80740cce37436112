//! Facts about the machine that decide whether two runs can be compared.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the machine is; read once a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Kernel release.
    pub kernel: String,
    /// Kernel build string.
    pub kernel_build: String,
    /// Machine architecture.
    pub architecture: String,
    /// Name of the distribution.
    pub system: String,
    /// CPU model.
    pub cpu: String,
    /// CPUs this process may use.
    pub cpus: usize,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// Swap, bytes.
    pub swap_bytes: u64,
    /// Frequency governor of the first CPU, where there is one.
    pub governor: Option<String>,
    /// True inside a virtual machine.
    pub virtual_machine: bool,
    /// Changes with every boot.
    pub boot_id: String,
    /// The kernel's clock.
    pub clocksource: String,
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_string())
}

/// The value after `key` and a colon or equals sign in a text of such lines.
fn value_of(text: &str, key: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once([':', '='])?;
        (name.trim() == key).then(|| value.trim().trim_matches('"').to_string())
    })
}

fn kib_of(text: &str, key: &str) -> u64 {
    value_of(text, key)
        .and_then(|v| v.trim_end_matches(" kB").parse::<u64>().ok())
        .unwrap_or(0)
        << 10
}

impl Facts {
    /// Reads them; what cannot be read stays empty.
    pub fn read() -> Self {
        let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
        let meminfo = read("/proc/meminfo").unwrap_or_default();
        let os = read("/etc/os-release").unwrap_or_default();
        let name = rustix::system::uname();
        let text = |s: &std::ffi::CStr| s.to_string_lossy().into_owned();
        Facts {
            kernel: text(name.release()),
            kernel_build: text(name.version()),
            architecture: text(name.machine()),
            system: value_of(&os, "PRETTY_NAME").unwrap_or_default(),
            cpu: value_of(&cpuinfo, "model name").unwrap_or_default(),
            cpus: super::allowed_cpus().len(),
            memory_bytes: kib_of(&meminfo, "MemTotal"),
            swap_bytes: kib_of(&meminfo, "SwapTotal"),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            virtual_machine: value_of(&cpuinfo, "flags")
                .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
            boot_id: read("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
            clocksource: read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                .unwrap_or_default(),
        }
    }
}

/// The present moment in UTC, `2026-11-30T20:01:05Z`.
pub fn now_utc() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    utc(since.as_secs())
}

/// Seconds since 1970 as a UTC date and time.
pub fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant's civil_from_days, for dates after 1970.
    let z = days + 719_468;
    let era = z / 146_097;
    let day_of_era = z % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_796_068_865), "2026-11-30T20:01:05Z");
    }

    #[test]
    fn lines_are_found_by_key() {
        assert_eq!(
            kib_of("MemTotal:       1024 kB\nSwapTotal: 0 kB", "MemTotal"),
            1 << 20
        );
        assert_eq!(
            value_of("A=1\nPRETTY_NAME=\"D 12\"", "PRETTY_NAME").unwrap(),
            "D 12"
        );
    }

    #[test]
    fn this_machine_has_facts() {
        let facts = Facts::read();
        assert!(!facts.kernel.is_empty() && facts.memory_bytes > 0 && facts.cpus > 0);
    }
}
