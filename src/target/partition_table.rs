//! Whether a device begins with a partition table. The kernel may not have read it: a
//! loop device is not looked at for partitions unless asked to.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::{Context, Result};

const SECTOR: usize = 512;
/// Where the four entries of a DOS table begin, and the bytes of one.
const ENTRIES: (usize, usize) = (446, 16);

/// Whether there is one.
pub(super) fn is_on(device: &Path) -> Result<bool> {
    let mut start = Vec::new();
    match File::open(device).and_then(|file| file.take(8192).read_to_end(&mut start)) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => {
            Err(error).with_context(|| format!("cannot read {}", device.display()))
        }
        _ => Ok(is_gpt(&start) || is_dos(&start)),
    }
}

/// The header is in the second block, of 512 or of 4096 bytes.
fn is_gpt(start: &[u8]) -> bool {
    const SIGNATURE: &[u8] = b"EFI PART";
    let at = |offset: usize| start.get(offset..offset + SIGNATURE.len()) == Some(SIGNATURE);
    at(SECTOR) || at(4096)
}

/// The signature alone is in every boot sector, that of a FAT file system for example:
/// the entries must look like entries too.
fn is_dos(start: &[u8]) -> bool {
    if start.get(SECTOR - 2..SECTOR) != Some(&[0x55, 0xAA]) {
        return false;
    }
    let entries = start[ENTRIES.0..SECTOR - 2].chunks_exact(ENTRIES.1);
    let is_entry = |entry: &[u8]| matches!(entry[0], 0 | 0x80);
    // Its type, first sector and length.
    let is_used = |entry: &[u8]| {
        entry[4] != 0 && entry[8..12].iter().any(|b| *b != 0) && entry[12..].iter().any(|b| *b != 0)
    };
    entries.clone().all(is_entry) && (entries.clone().any(is_used) || is_blank(start))
}

/// Nothing before the entries, no file system's jump either: a table without partitions.
fn is_blank(start: &[u8]) -> bool {
    start[..440].iter().all(|byte| *byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dos(entry: [u8; 16]) -> Vec<u8> {
        let mut start = vec![0; 8192];
        start[446..462].copy_from_slice(&entry);
        start[510..512].copy_from_slice(&[0x55, 0xAA]);
        start
    }

    #[test]
    fn tables_are_told_from_boot_sectors() {
        let linux = [0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0];
        assert!(is_dos(&dos(linux)));
        assert!(is_dos(&dos([0; 16])), "a table without partitions");
        let mut fat = dos([0; 16]);
        fat[..3].copy_from_slice(&[0xEB, 0x3C, 0x90]);
        assert!(!is_dos(&fat));
        assert!(!is_dos(&dos([7; 16])));
        assert!(!is_dos(&[0; 8192]));
        assert!(!is_dos(&[]));
        for at in [512, 4096] {
            let mut gpt = vec![0; 8192];
            gpt[at..at + 8].copy_from_slice(b"EFI PART");
            assert!(is_gpt(&gpt));
        }
    }
}
