//! Making file systems: complete when mkfs returns (nothing is initialised lazily during
//! the measurement) and without a discard (which would punch holes into the image).

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::claim::check_idle;
use super::features;
use super::probe::{find_program, mkfs_name};
use super::spec::{FsType, Made};
use crate::error::{Context, Result, bail};

/// The label of our file systems.
pub(super) const LABEL: &str = "mountmark";

/// How a file system was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MkfsReport {
    /// The command line; empty for tmpfs.
    pub command: String,
    /// How long it took.
    pub elapsed: Duration,
}

impl Made {
    /// Makes the file system on `device`, destroying what is there. Whatever the caller
    /// checked: a device that is mounted, swapped on, held or partitioned is refused.
    /// tmpfs needs no making.
    pub fn format(&self, device: &Path) -> Result<MkfsReport> {
        let Some(tool) = mkfs_name(self.fs) else {
            return Ok(MkfsReport {
                command: String::new(),
                elapsed: Duration::ZERO,
            });
        };
        let Some(program) = find_program(tool) else {
            bail!("{tool} is not installed; see mountmark doctor");
        };
        check_idle(device)?;
        let mut arguments = base_arguments(self.fs, &self.options);
        arguments.extend(features::arguments(self.fs, &self.mkfs_features())?);
        arguments.push(device.to_string_lossy().into_owned());
        let command = format!("{tool} {}", arguments.join(" "));
        let start = Instant::now();
        run(&program, &arguments).with_context(|| format!("{command} failed"))?;
        Ok(MkfsReport {
            command,
            elapsed: start.elapsed(),
        })
    }
}

fn base_arguments(fs: FsType, options: &[String]) -> Vec<String> {
    let fixed: &[&str] = match fs {
        FsType::Ext2 | FsType::Ext3 | FsType::Ext4 => &["-q", "-F"],
        FsType::Xfs | FsType::Btrfs => &["-q", "-f", "-K"],
        FsType::Jfs => &["-q"],
        FsType::Reiserfs => &["-q", "-ff"],
        FsType::Tmpfs => &[],
    };
    let mut arguments: Vec<String> = fixed.iter().map(ToString::to_string).collect();
    // Under 512 MiB mke2fs would choose blocks of 1 KiB: another file system than the one
    // that the user runs, and no fair one beside xfs.
    if fs.is_ext() && !options.iter().any(|option| option.starts_with("mkfs.b=")) {
        arguments.extend(["-b".to_string(), "4096".to_string()]);
    }
    let label = match fs {
        FsType::Reiserfs => "-l",
        _ => "-L",
    };
    arguments.extend([label.to_string(), LABEL.to_string()]);
    arguments
}

/// Runs a tool that dies with us and is out of reach of the terminal's Ctrl-C, which
/// would leave half a file system; its last words are the error.
fn run(program: &Path, arguments: &[String]) -> Result<()> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let parent = std::process::id();
    // SAFETY: prctl, getppid and _exit are async-signal-safe and touch no memory.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            if libc::getppid() != parent as libc::pid_t {
                libc::_exit(1);
            }
            Ok(())
        });
    }
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))?;
    let mut words = Vec::new();
    if let Some(stderr) = child.stderr.as_mut() {
        stderr.read_to_end(&mut words)?;
    }
    let status = child.wait()?;
    if status.success() {
        return Ok(());
    }
    let words = last_words(&String::from_utf8_lossy(&words));
    if words.is_empty() {
        bail!("{status}");
    }
    bail!("{words} ({status})")
}

/// The last lines a tool said before its usage text, which would hide them.
fn last_words(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim)
        .take_while(|line| !line.to_ascii_lowercase().starts_with("usage:"))
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(5)..].join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_before_the_usage_text_is_kept() {
        let stderr = "Filesystem must be larger than 300MB.\nUsage: mkfs.xfs\n/* blocksize */\n";
        assert_eq!(last_words(stderr), "Filesystem must be larger than 300MB.");
        assert_eq!(last_words("1\n2\n\n3\n4\n5\n6\n"), "2 / 3 / 4 / 5 / 6");
        assert_eq!(last_words(""), "");
    }
}
