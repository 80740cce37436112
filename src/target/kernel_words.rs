//! What the kernel says about a mount: on the file system's own descriptor, and for what
//! it says only there, in the kernel log.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::OpenOptionsExt;

/// Messages on a descriptor of `fsopen`: the level (`e`, `w`, `i`) and the text.
pub(super) fn of_context(fs: BorrowedFd<'_>) -> Vec<(char, String)> {
    let mut messages = Vec::new();
    let mut buffer = [0u8; 1024];
    // One read, one message; ENODATA when there are no more.
    while let Ok(length @ 1..) = rustix::io::read(fs, &mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..length]);
        let mut parts = text.trim_end().splitn(2, ' ');
        if let (Some(level), Some(words)) = (parts.next(), parts.next()) {
            messages.push((level.chars().next().unwrap_or('e'), words.to_string()));
        }
    }
    messages
}

/// What the kernel log says of one mount from now on.
pub(super) struct LogTail {
    file: Option<File>,
    device: String,
    driver: &'static str,
}

/// A line of the log and its level, 0 to 7; 4 is a warning.
pub(super) type Line = (u8, String);

impl LogTail {
    /// Remembers where the log ends now; where reading it is not allowed, it stays
    /// empty. `device` is the kernel's name of the device, `driver` what the driver's
    /// lines begin with.
    pub fn start(device: &str, driver: &'static str) -> LogTail {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/kmsg")
            .ok()
            .and_then(|mut file| file.seek(SeekFrom::End(0)).is_ok().then_some(file));
        LogTail {
            file,
            device: device.to_string(),
            driver,
        }
    }

    /// The new lines about the device.
    pub fn about_device(&mut self) -> Vec<Line> {
        let mut lines = self.new_lines();
        lines.retain(|(_, text)| has_word(text, &self.device));
        lines
    }

    /// The new lines that may explain a failure: those about the device, or, if there
    /// are none, those in which the driver names no device (it has not looked at one
    /// yet; another process may have caused them).
    pub fn about_failure(&mut self) -> Vec<Line> {
        let lines = self.new_lines();
        let (named, others): (Vec<Line>, Vec<Line>) = lines
            .into_iter()
            .partition(|(_, text)| has_word(text, &self.device));
        if !named.is_empty() {
            return named;
        }
        let general = |text: &str| {
            let head = text.split(':').next().unwrap_or_default();
            head.starts_with(self.driver) && !head.contains('(')
        };
        let others = others.into_iter();
        others.filter(|(_, text)| general(text)).collect()
    }

    fn new_lines(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        let Some(file) = &mut self.file else {
            return lines;
        };
        let mut buffer = [0u8; 8192];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => lines.extend(parse(&String::from_utf8_lossy(&buffer[..length]))),
                // The log went round and overwrote what we had not read yet.
                Err(e) if e.raw_os_error() == Some(libc::EPIPE) => {}
                Err(_) => break,
            }
        }
        lines
    }
}

/// `4,1234,5678,-;text`, then lines that begin with a blank: properties.
fn parse(record: &str) -> Option<(u8, String)> {
    let (head, text) = record.split_once(';')?;
    let priority: u32 = head.split(',').next()?.parse().ok()?;
    Some(((priority & 7) as u8, text.lines().next()?.to_string()))
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let record =
            "4,1385,732496926,-;EXT4-fs (loop1): can't mount with both\n SUBSYSTEM=block\n";
        let (level, text) = parse(record).unwrap();
        assert_eq!(level, 4);
        assert_eq!(text, "EXT4-fs (loop1): can't mount with both");
        assert!(has_word(&text, "loop1"));
        assert!(!has_word("EXT4-fs (loop11): x", "loop1"));
        assert!(parse("no record").is_none());
    }
}
