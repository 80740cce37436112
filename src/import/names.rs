//! What the name of a file says: `RUN-<server>-<machine>`, `<phase>-<server>-<machine>`.

use std::path::Path;

use crate::workload::sqlbench::PHASES;

/// A file's name, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The phase; what stands there instead where it is none that we know.
    pub phase: String,
    /// Server and machine, the same in all files of one run.
    pub tag: String,
}

/// Takes the name of `path` apart.
pub(super) fn of(path: &Path) -> Named {
    let name = file_name(path);
    let known = PHASES.iter().copied().chain(["RUN"]).find(|phase| {
        name.get(..phase.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(phase))
            && name[phase.len()..].starts_with('-')
    });
    let (phase, tag) = match known {
        Some(phase) => (phase, &name[phase.len() + 1..]),
        None => name.split_once('-').unwrap_or((&name, "")),
    };
    Named {
        phase: phase.to_string(),
        tag: tag.to_string(),
    }
}

/// The name without its directory.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The label of the target that a tag stands for: its machine.
pub(super) fn target(tag: &str) -> String {
    let machine = tag.split_once('-').map_or(tag, |(_, machine)| machine);
    match machine {
        "" => "imported".to_string(),
        machine => machine.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_phase_server_and_machine() {
        for (name, phase, tag, label) in [
            ("out/RUN-mysql-linux", "RUN", "mysql-linux", "linux"),
            ("alter-table-pg-linux", "alter-table", "pg-linux", "linux"),
            (
                "atis-mysql_fast-Linux_2.2_i686-cmp-mysql,pg",
                "ATIS",
                "mysql_fast-Linux_2.2_i686-cmp-mysql,pg",
                "Linux_2.2_i686-cmp-mysql,pg",
            ),
            (
                "insert-sqlite-ext4_data=journal",
                "insert",
                "sqlite-ext4_data=journal",
                "ext4_data=journal",
            ),
            ("results.txt", "results.txt", "", "imported"),
        ] {
            let found = of(Path::new(name));
            assert_eq!((found.phase.as_str(), found.tag.as_str()), (phase, tag));
            assert_eq!(target(&found.tag), label, "{name}");
        }
    }
}
