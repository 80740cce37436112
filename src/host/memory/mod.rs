//! Memory limits: which hierarchy of control groups can give them on this machine, a
//! group with a limit, and what such a group tells.
//!
//! A controller belongs to one hierarchy: version 2 where its list names `memory`, else
//! version 1. Under systemd the version 2 tree is systemd's own, and groups are made below
//! a scope that it delegated ([`scope`]); elsewhere they are made at the top.

mod counts;
mod group;
pub mod scope;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::cgroup::Hierarchies;
use crate::error::{Context, Result, anyhow, bail, usage};

pub use counts::{MemoryCounts, MemoryUse};
pub use group::MemoryGroup;

/// The version of a hierarchy; the two do not limit alike and are not to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Dirty data are throttled by the memory of the whole machine.
    V1,
    /// Dirty data are throttled by group, where the file system can.
    V2,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::V1 => "cgroup v1",
            Version::V2 => "cgroup v2",
        })
    }
}

/// Where groups with a memory limit can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controller {
    version: Version,
    parent: PathBuf,
    by_group: bool,
}

/// What decides where groups can be made.
#[derive(Clone, Debug, Default)]
struct Surroundings {
    hierarchies: Hierarchies,
    /// Our own group in the version 2 hierarchy, as `/proc/self/cgroup` names it.
    own: Option<String>,
    systemd: bool,
    root: bool,
}

impl Surroundings {
    fn detect() -> Self {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Surroundings {
            hierarchies: Hierarchies::detect(),
            own: own
                .lines()
                .find_map(|line| line.strip_prefix("0::").map(String::from)),
            systemd: Path::new("/run/systemd/system").exists(),
            root: rustix::process::geteuid().is_root(),
        }
    }

    /// Our own group in the version 2 hierarchy.
    fn own_dir(&self) -> Option<PathBuf> {
        let own = self.own.as_deref()?.trim_start_matches('/');
        Some(self.hierarchies.unified.as_ref()?.join(own))
    }

    /// Whether that is a scope that systemd made for us.
    fn in_scope(&self) -> bool {
        self.own_dir().is_some_and(|dir| {
            let name = dir.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(scope::UNIT) && name.ends_with(".scope")
        })
    }

    /// The version 2 root, if it has the memory controller.
    fn v2(&self) -> Option<&Path> {
        let root = self.hierarchies.unified.as_deref()?;
        has(root, "cgroup.controllers", "memory").then_some(root)
    }

    /// Whether a scope must be asked of systemd before groups can be made.
    fn needs_scope(&self) -> bool {
        self.systemd && self.v2().is_some() && !self.in_scope()
    }

    fn controller(&self) -> Result<Controller> {
        if let Some(root) = self.v2() {
            return self.v2_controller(root);
        }
        let Some(parent) = &self.hierarchies.memory_v1 else {
            bail!(
                "this kernel offers no memory controller; boot with cgroup_enable=memory, or \
                 mount one: mount -t cgroup -o memory none /sys/fs/cgroup/memory"
            );
        };
        writable(parent, self.root)?;
        Ok(Controller {
            version: Version::V1,
            parent: parent.clone(),
            by_group: false,
        })
    }

    fn v2_controller(&self, root: &Path) -> Result<Controller> {
        let parent = match self.in_scope() {
            true => self.own_dir().unwrap_or_else(|| root.to_path_buf()),
            false => root.to_path_buf(),
        };
        if self.in_scope() && !has(&parent, "cgroup.controllers", "memory") {
            bail!(
                "systemd gave the scope {} no memory controller; run as root, or let it \
                 delegate memory to users (Delegate=memory in user@.service)",
                parent.display()
            );
        }
        writable(&parent, self.root)?;
        // The top of the whole tree may have processes; the top that a container sees, or
        // any other group, may not, once it gives controllers to its children.
        let is_top = !parent.join("cgroup.type").exists();
        let given = has(&parent, "cgroup.subtree_control", "memory");
        if !is_top && !given && !self.in_scope() && populated(&parent) {
            bail!(
                "processes live in {}, which therefore can give no memory controller to groups \
                 below it; start mountmark where it is delegated one (outside the container, \
                 or with its own cgroup namespace and nothing else in it)",
                parent.display()
            );
        }
        Ok(Controller {
            version: Version::V2,
            by_group: has(&parent, "cgroup.controllers", "io"),
            parent,
        })
    }
}

impl Controller {
    /// Where groups can be made here; only looks.
    ///
    /// # Errors
    /// Why none can, and the way out.
    pub fn find() -> Result<Self> {
        Surroundings::detect().controller()
    }

    /// Makes it ready for groups: gives the controllers of version 2 to the children.
    ///
    /// # Errors
    /// As [`find`](Controller::find); the kernel's words.
    pub fn prepare() -> Result<Self> {
        let surroundings = Surroundings::detect();
        if surroundings.needs_scope() {
            bail!(
                "this machine's groups are systemd's, and {}",
                scope::remedy()
            );
        }
        let controller = surroundings.controller()?;
        controller
            .enable(surroundings.in_scope())
            .map_err(|error| {
                usage(format!(
                    "no memory limit can be set: {}",
                    crate::error::one_line(&error)
                ))
            })?;
        Ok(controller)
    }

    fn enable(&self, in_scope: bool) -> Result<()> {
        if self.version == Version::V1 {
            return Ok(());
        }
        let control = self.parent.join("cgroup.subtree_control");
        if in_scope && !has(&self.parent, "cgroup.subtree_control", "memory") {
            // Only a group without processes gives controllers on: ours goes one down. All
            // of it goes with the scope, which systemd removes when its processes are gone.
            let below = self.parent.join("mountmark-itself");
            if !below.exists() {
                fs::create_dir(&below)
                    .with_context(|| format!("cannot make the cgroup {}", below.display()))?;
            }
            fs::write(below.join("cgroup.procs"), "0")
                .with_context(|| format!("cannot move into {}", below.display()))?;
        }
        for (name, needed) in [("memory", true), ("io", false)] {
            if has(&self.parent, "cgroup.subtree_control", name) {
                continue;
            }
            match fs::write(&control, format!("+{name}")) {
                Err(error) if needed => {
                    return Err(anyhow!("{} takes no +{name} ({error})", control.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The version of its hierarchy.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Where groups are made.
    pub fn parent(&self) -> &Path {
        &self.parent
    }

    /// Whether the kernel throttles writers by their group's memory, on file systems that
    /// can: it takes the memory and the io controller in one version 2 hierarchy.
    pub fn throttles_by_group(&self) -> bool {
        self.by_group
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at {}",
            self.version,
            crate::error::shown(&self.parent)
        )
    }
}

/// Whether a file of words of a group holds `word`.
fn has(group: &Path, file: &str, word: &str) -> bool {
    let text = fs::read_to_string(group.join(file)).unwrap_or_default();
    text.split_whitespace().any(|found| found == word)
}

fn populated(group: &Path) -> bool {
    let procs = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    !procs.trim().is_empty()
}

fn writable(parent: &Path, root: bool) -> Result<()> {
    let remedy = match root {
        true => "it is mounted read-only; outside the container it can be done",
        false => "run as root",
    };
    access(parent, Access::WRITE_OK)
        .map_err(|_| anyhow!("groups cannot be made in {}: {remedy}", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of directories that looks like a version 2 hierarchy.
    fn tree(groups: &[(&str, &[(&str, &str)])]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (group, files) in groups {
            let dir = root.path().join(group);
            fs::create_dir_all(&dir).unwrap();
            for (name, text) in *files {
                fs::write(dir.join(name), text).unwrap();
            }
        }
        root
    }

    fn around(root: &tempfile::TempDir, own: &str) -> Surroundings {
        Surroundings {
            hierarchies: Hierarchies {
                unified: Some(root.path().to_path_buf()),
                memory_v1: None,
            },
            own: Some(own.to_string()),
            systemd: false,
            root: true,
        }
    }

    fn refused(around: &Surroundings) -> String {
        around.controller().unwrap_err().to_string()
    }

    const ALL: (&str, &str) = ("cgroup.controllers", "cpu io memory pids\n");
    const NONE: (&str, &str) = ("cgroup.subtree_control", "\n");

    #[test]
    fn version_2_gives_groups_at_its_top_and_the_controllers_are_handed_on() {
        let root = tree(&[("", &[ALL, NONE])]);
        let found = around(&root, "/").controller().unwrap();
        assert_eq!(found.version(), Version::V2);
        assert_eq!(found.parent(), root.path());
        assert!(found.throttles_by_group());
        found.enable(false).unwrap();
        // Each is a write of its own; of the file only the last is left here.
        let control = fs::read_to_string(root.path().join("cgroup.subtree_control")).unwrap();
        assert_eq!(control, "+io");
        assert!(!around(&root, "/").needs_scope());
    }

    #[test]
    fn without_the_io_controller_writers_are_not_throttled_by_group() {
        let root = tree(&[("", &[("cgroup.controllers", "memory"), NONE])]);
        assert!(
            !around(&root, "/")
                .controller()
                .unwrap()
                .throttles_by_group()
        );
    }

    #[test]
    fn under_systemd_groups_are_made_below_a_scope_of_ours_only() {
        let scope = "user.slice/mountmark-7.scope";
        let root = tree(&[("", &[ALL, NONE]), (scope, &[ALL, NONE])]);
        let mut around = around(&root, "/user.slice/session-1.scope");
        around.systemd = true;
        assert!(around.needs_scope());
        around.own = Some(format!("/{scope}"));
        assert!(!around.needs_scope());
        let found = around.controller().unwrap();
        assert_eq!(found.parent(), root.path().join(scope));
        found.enable(true).unwrap();
        let below = root
            .path()
            .join(scope)
            .join("mountmark-itself/cgroup.procs");
        assert_eq!(fs::read_to_string(below).unwrap(), "0");
    }

    #[test]
    fn a_scope_without_the_controller_is_refused_with_the_way_out() {
        let scope = "mountmark-7.scope";
        let bare = ("cgroup.controllers", "cpu pids");
        let root = tree(&[("", &[ALL, NONE]), (scope, &[bare, NONE])]);
        let mut around = around(&root, "/mountmark-7.scope");
        around.systemd = true;
        assert!(refused(&around).contains("Delegate=memory"));
    }

    #[test]
    fn a_container_whose_top_has_processes_is_refused() {
        let kind = ("cgroup.type", "domain\n");
        let root = tree(&[("", &[ALL, NONE, kind, ("cgroup.procs", "1\n2\n")])]);
        assert!(refused(&around(&root, "/")).contains("processes live in"));
        let empty = tree(&[("", &[ALL, NONE, kind, ("cgroup.procs", "")])]);
        assert!(around(&empty, "/").controller().is_ok());
    }

    #[test]
    fn version_1_has_it_where_version_2_has_not() {
        let unified = tree(&[("", &[("cgroup.controllers", "hugetlb"), NONE])]);
        let memory = tree(&[("", &[])]);
        let mut around = around(&unified, "/");
        assert!(refused(&around).contains("cgroup_enable=memory"));
        around.hierarchies.memory_v1 = Some(memory.path().to_path_buf());
        around.systemd = true;
        assert!(!around.needs_scope());
        let found = around.controller().unwrap();
        assert_eq!(
            (found.version(), found.parent()),
            (Version::V1, memory.path())
        );
        assert!(!found.throttles_by_group());
        around.hierarchies.memory_v1 = Some("/proc/nowhere".into());
        around.root = false;
        assert!(refused(&around).contains("run as root"));
    }
}
