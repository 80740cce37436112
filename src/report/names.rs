//! Short names of cases.

use crate::record::KeyRecord;
use crate::units::Bytes;

/// Workload and target of `key`, and what else varies among `keys`.
pub(super) fn case_name(keys: &[&KeyRecord], key: &KeyRecord) -> String {
    let varies = |differs: &dyn Fn(&KeyRecord) -> bool| keys.iter().any(|k| differs(k));
    let mut name = format!("{} on {}", key.workload, key.target);
    if varies(&|k| k.engine != key.engine) {
        name.push_str(&format!(", {}", key.engine));
    }
    for (setting, value) in &key.settings {
        if varies(&|k| k.engine == key.engine && k.settings.get(setting) != Some(value)) {
            name.push_str(&format!(", {setting}={value}"));
        }
    }
    if varies(&|k| k.memory_bytes != key.memory_bytes) {
        let memory = key.memory_bytes.map(|b| Bytes(b).to_string());
        name.push_str(&format!(", {}", memory.as_deref().unwrap_or("no limit")));
    }
    if varies(&|k| k.cpus != key.cpus) {
        name.push_str(&format!(", cpus {}", key.cpus));
    }
    if key.replicate > 0 {
        name.push_str(" (A/A)");
    }
    name
}
