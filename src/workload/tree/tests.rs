use std::fs::{self, File};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;
use crate::engine::Address;
use crate::error::one_line;
use crate::measure::{CpuTime, DeviceCounters};
use crate::workload::{Event, Probe};

struct Blind;

impl Probe for Blind {
    fn device(&mut self) -> Option<DeviceCounters> {
        None
    }
    fn server_cpu(&mut self) -> Option<CpuTime> {
        None
    }
    fn server_memory(&mut self) -> Option<u64> {
        None
    }
    fn dirty_bytes(&mut self) -> Option<u64> {
        None
    }
    fn sync(&mut self) -> Result<()> {
        Ok(())
    }
}

fn place() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("mmtest-tree-")
        .tempdir_in("/dev/shm")
        .unwrap()
}

fn options(scale: f64) -> Options {
    Options {
        scale,
        order: Order::Generated,
        jobs: 1,
        archive: None,
    }
}

fn make(workload: &str, options: &Options) -> Archive {
    Archive::make(workload, options, Path::new("/dev/shm")).unwrap()
}

/// Runs every part; returns the finished steps with their counts and bytes.
fn work(archive: &Archive, workload: &str, jobs: usize, data: &Path) -> Vec<(String, u64, u64)> {
    let mut told = Vec::new();
    for steps in parts(workload) {
        let task = Task {
            steps,
            copies: copies(workload),
            archive: archive.path(),
            contents: archive.contents.clone(),
            jobs,
            data: data.to_path_buf(),
        };
        let mut observer = |event: Event| {
            if let Event::OperationFinished(op) = event {
                told.push((op.name, op.statements, op.bytes.unwrap()));
            }
            Ok(())
        };
        let limit = std::time::Duration::MAX;
        let mut probe = Blind;
        let mut bench = Bench::new(&Address::None, &mut probe, &mut observer, limit);
        run(&mut bench, &task).unwrap();
    }
    told
}

/// FNV-1a.
fn hash(archive: &Archive) -> u64 {
    let bytes = fs::read(archive.path()).unwrap();
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn generated_archives_are_the_same_for_ever() {
    let mut shuffled = options(0.002);
    shuffled.order = Order::Shuffled;
    let pinned = [
        ("small-files", options(0.002), 0xf226_f04e_c859_4187),
        ("small-files", shuffled.clone(), 0x5b70_252c_c01e_198f),
        ("source-tree", options(0.002), 0x6656_5321_0423_a0f4),
        ("source-tree", shuffled, 0x22b9_9a33_1f38_3bd0),
    ];
    let found: Vec<u64> = pinned
        .iter()
        .map(|(workload, options, _)| hash(&make(workload, options)))
        .collect();
    let expected: Vec<u64> = pinned.iter().map(|(.., hash)| *hash).collect();
    assert_eq!(found, expected, "{found:#x?}");
}

#[test]
fn sizes_are_those_of_the_published_trees() {
    let small = make("small-files", &options(0.02)).contents;
    assert_eq!((small.files, small.dirs), (20_000, 12));
    assert!((1000..1200).contains(&(small.bytes / small.files)));
    let source = make("source-tree", &options(0.05)).contents;
    assert_eq!(source.bytes / 100_000, 147);
    assert!(source.symlinks > 50 && source.dirs > 100, "{source:?}");
}

#[test]
fn every_step_handles_every_file_and_the_last_leaves_nothing() {
    for (order, jobs) in [
        (Order::Generated, 1),
        (Order::Shuffled, 1),
        (Order::Shuffled, 4),
    ] {
        for workload in WORKLOADS {
            let temp = place();
            let archive = make(
                workload,
                &Options {
                    order,
                    ..options(0.004)
                },
            );
            let contents = &archive.contents;
            let told = work(&archive, workload, jobs, temp.path());
            let names: Vec<&str> = told.iter().map(|(name, ..)| name.as_str()).collect();
            let steps: Vec<&str> = parts(workload).concat().iter().map(|s| s.name()).collect();
            assert_eq!(names, steps);
            for (name, files, bytes) in &told {
                let copies = match name.as_str() {
                    "read" | "remove" => copies(workload),
                    _ => 1,
                };
                let expected = (contents.names() * copies, contents.bytes * copies);
                assert_eq!((*files, *bytes), expected, "{workload} {name}");
            }
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 0);
        }
    }
}

/// An archive of a user's with what generated ones lack.
fn odd_archive(at: &Path) -> PathBuf {
    let path = at.join("odd.tar");
    let mut builder = tar::Builder::new(File::create(&path).unwrap());
    let from = at.join("from");
    fs::create_dir_all(from.join("closed/below")).unwrap();
    fs::write(from.join("closed/below/file"), vec![7; 600_000]).unwrap();
    fs::write(from.join("empty"), "").unwrap();
    fs::set_permissions(from.join("empty"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("nowhere", from.join("dangling")).unwrap();
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(120));
    fs::create_dir(from.join("d".repeat(120))).unwrap();
    fs::write(from.join(&long), "long").unwrap();
    fs::set_permissions(from.join("closed"), PermissionsExt::from_mode(0o555)).unwrap();
    builder.follow_symlinks(false);
    builder.append_dir_all(".", &from).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Link);
    header.set_size(0);
    header.set_mode(0o644);
    builder
        .append_link(&mut header, "again", "closed/below/file")
        .unwrap();
    // Its directory is only implied.
    let mut header = tar::Header::new_gnu();
    header.set_size(3);
    header.set_mode(0o600);
    header.set_mtime(1_000_000_000);
    builder
        .append_data(&mut header, "implied/dir/file", &b"abc"[..])
        .unwrap();
    builder.finish().unwrap();
    path
}

#[test]
fn a_users_archive_comes_through_with_links_modes_and_times() {
    let temp = place();
    let plain = odd_archive(temp.path());
    let bytes = fs::read(&plain).unwrap();
    let gz = temp.path().join("a.tar.gz");
    let mut writer = flate2::write::GzEncoder::new(File::create(&gz).unwrap(), Default::default());
    writer.write_all(&bytes).unwrap();
    writer.finish().unwrap();
    let bz2 = temp.path().join("a.tar.bz2");
    let mut writer = bzip2::write::BzEncoder::new(File::create(&bz2).unwrap(), Default::default());
    writer.write_all(&bytes).unwrap();
    writer.finish().unwrap();
    let zst = temp.path().join("a.tar.zst");
    let level = ruzstd::encoding::CompressionLevel::Fastest;
    fs::write(&zst, ruzstd::encoding::compress_to_vec(&bytes[..], level)).unwrap();
    for (number, path) in [plain, gz, bz2, zst].into_iter().enumerate() {
        for order in [Order::Generated, Order::Shuffled] {
            let mut options = options(1.0);
            options.archive = Some(path.clone());
            options.order = order;
            let archive = make("source-tree", &options);
            let contents = &archive.contents;
            assert_eq!(contents.files, 4, "{}", path.display());
            assert_eq!((contents.symlinks, contents.hard_links), (1, 1));
            assert_eq!(contents.dirs, 5);
            let data = temp.path().join(format!("data{number}{order}"));
            fs::create_dir(&data).unwrap();
            work(&archive, "source-tree", 1 + number % 2 * 2, &data);
        }
    }
    let xz = temp.path().join("a.tar.xz");
    fs::write(&xz, [0xfd, b'7', b'z', b'X', b'Z', 0]).unwrap();
    let mut options = options(1.0);
    options.archive = Some(xz);
    let error = Archive::make("source-tree", &options, temp.path()).unwrap_err();
    assert!(one_line(&error).contains("xz -dk"), "{}", one_line(&error));
}

/// What goes wrong when an archive of these entries is taken in.
fn refusal(entries: &[(tar::EntryType, &str, &str)]) -> String {
    let temp = place();
    let path = temp.path().join("hostile.tar");
    let mut builder = tar::Builder::new(File::create(&path).unwrap());
    for (kind, name, target) in entries {
        let mut header = tar::Header::new_ustar();
        let bytes = header.as_ustar_mut().unwrap();
        bytes.name[..name.len()].copy_from_slice(name.as_bytes());
        bytes.linkname[..target.len()].copy_from_slice(target.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(0);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_cksum();
        builder.append(&header, &[][..]).unwrap();
    }
    builder.finish().unwrap();
    let mut options = options(1.0);
    options.archive = Some(path);
    match Archive::make("source-tree", &options, temp.path()) {
        Ok(archive) => panic!("{entries:?} is taken: {:?}", archive.contents),
        Err(error) => one_line(&error),
    }
}

#[test]
fn what_leads_outside_is_refused_by_name() {
    use tar::EntryType as E;
    for (entries, name, words) in [
        (vec![(E::Regular, "/etc/evil", "")], "/etc/evil", "absolute"),
        (
            vec![(E::Regular, "a/../../evil", "")],
            "a/../../evil",
            "'..'",
        ),
        (vec![(E::Symlink, "a/link", "/etc")], "a/link", "outside"),
        (
            vec![(E::Symlink, "a/link", "../../etc")],
            "a/link",
            "outside",
        ),
        (vec![(E::Link, "hard", "/etc/shadow")], "hard", "absolute"),
        (vec![(E::Link, "hard", "../x")], "hard", "'..'"),
        (vec![(E::Link, "hard", "missing")], "hard", "no file"),
        (
            vec![(E::Symlink, "up", "."), (E::Regular, "up/evil", "")],
            "up/evil",
            "'up' is not a directory",
        ),
        (
            vec![(E::Symlink, "l", "f"), (E::Link, "hard", "l")],
            "hard",
            "no file",
        ),
        (vec![(E::Char, "dev", "")], "dev", "device"),
        (vec![(E::Fifo, "pipe", "")], "pipe", "pipe"),
        (
            vec![(E::Regular, "twice", ""), (E::Regular, "twice", "")],
            "twice",
            "twice in",
        ),
        (vec![(E::Directory, "only/", "")], "", "no files"),
    ] {
        let message = refusal(&entries);
        assert!(
            message.contains(name) && message.contains(words),
            "{message}"
        );
    }
}

#[test]
fn a_link_made_meanwhile_is_not_followed() {
    let temp = place();
    let outside = temp.path().join("outside");
    let top = temp.path().join("top");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(&top).unwrap();
    symlink(&outside, top.join("rock")).unwrap();
    let archive = make("small-files", &options(0.0001));
    let top = File::open(&top).unwrap();
    let error = unpack::unpack(&archive.path(), &archive.contents.chunks, top.as_fd(), 1);
    assert!(error.is_err());
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn tampering_is_found() {
    let temp = place();
    let path = odd_archive(temp.path());
    let mut options = options(1.0);
    options.archive = Some(path);
    let archive = make("source-tree", &options);
    rustix::process::umask(Mode::empty());
    type Tamper = fn(&Path);
    let tampers: [(&str, Tamper); 7] = [
        ("contents differ", |top| {
            let file = top.join("closed/below/file");
            let time = file.metadata().unwrap().modified().unwrap();
            let mut bytes = fs::read(&file).unwrap();
            bytes[599_999] ^= 1;
            fs::write(&file, bytes).unwrap();
            let file = File::options().write(true).open(file).unwrap();
            file.set_modified(time).unwrap();
        }),
        ("its mode is", |top| {
            fs::set_permissions(top.join("empty"), PermissionsExt::from_mode(0o644)).unwrap();
        }),
        ("last changed", |top| {
            let file = File::options().write(true).open(top.join("empty")).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }),
        ("points elsewhere", |top| {
            fs::remove_file(top.join("dangling")).unwrap();
            symlink("somewhere", top.join("dangling")).unwrap();
        }),
        ("another file", |top| {
            fs::remove_file(top.join("again")).unwrap();
            fs::copy(top.join("closed/below/file"), top.join("again")).unwrap();
        }),
        ("there are 7 files", |top| {
            fs::write(top.join("more"), "").unwrap()
        }),
        ("No such file", |top| {
            fs::remove_file(top.join("empty")).unwrap()
        }),
    ];
    for (number, (words, tamper)) in tampers.into_iter().enumerate() {
        let top = temp.path().join(format!("top{number}"));
        fs::create_dir(&top).unwrap();
        let root = File::open(&top).unwrap();
        let (path, contents) = (archive.path(), &archive.contents);
        unpack::unpack(&path, &contents.chunks, root.as_fd(), 1).unwrap();
        verify::verify(&path, contents, root.as_fd()).unwrap();
        assert_eq!(top.join("closed").metadata().unwrap().mode() & 0o777, 0o555);
        tamper(&top);
        let error = verify::verify(&path, contents, root.as_fd()).unwrap_err();
        assert!(
            one_line(&error).contains(words),
            "{words}: {}",
            one_line(&error)
        );
    }
}

#[test]
fn what_is_needed_is_compared_with_what_there_is() {
    let archive = make("small-files", &options(0.001));
    let need = archive.need(1, 4096);
    assert!(need.bytes > 1000 * 4096 && need.inodes == 1012, "{need:?}");
    assert!(archive.need(1, 1024).bytes < need.bytes);
    need.check(Path::new("/dev/shm")).unwrap();
    let huge = Need {
        bytes: u64::MAX / 2,
        inodes: 1,
    };
    let message = huge.check(Path::new("/dev/shm")).unwrap_err().to_string();
    assert!(message.contains("are needed and"), "{message}");
    assert!(message.contains("--tree-scale"), "{message}");
}
