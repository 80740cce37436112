//! Devices and directories that must not be touched: every such argument ends in a refusal
//! and leaves every byte as it was. All devices are loop devices on images of the test's
//! own; the disk of the root file system is only asked about with `plan`, which runs
//! nothing.

mod common;

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Place, Running, can_mount, text};
use mountmark::target::mountinfo;
use nix::mount::{MsFlags, mount, umount};
use nix::sys::signal::Signal;

fn tool(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok()?;
    let shown = String::from_utf8_lossy(&output.stdout).trim().to_string();
    output.status.success().then_some(shown)
}

/// An image in the place, and a loop device on it that goes with this.
struct Disk {
    image: PathBuf,
    device: String,
}

impl Disk {
    fn new(place: &Place, name: &str, fill: impl FnOnce(&Path), args: &[&str]) -> Disk {
        let image = place.path(name);
        let file = fs::File::create(&image).expect("an image");
        file.set_len(16 << 20).expect("its size");
        fill(&image);
        let path = image.to_str().expect("utf-8");
        let mut all = vec!["--find", "--show"];
        all.extend(args);
        all.push(path);
        let device = tool("losetup", &all).expect("a loop device");
        Disk { image, device }
    }

    fn plain(place: &Place, name: &str) -> Disk {
        Disk::new(place, name, |_| {}, &[])
    }

    fn ext4(place: &Place, name: &str) -> Disk {
        Disk::new(place, name, |image| mkfs(image, "photos"), &[])
    }

    /// Makes the partition of [`dos_table`] known to the kernel, which may have no code to
    /// read the table; gives its device.
    fn with_partition(&self) -> String {
        tool("addpart", &[&self.device, "1", "2048", "16384"]).expect("addpart");
        format!("{}p1", self.device)
    }

    fn hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        fs::read(&self.image).expect("readable").hash(&mut hasher);
        hasher.finish()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        tool("delpart", &[&self.device, "1"]);
        tool("losetup", &["-d", &self.device]);
    }
}

fn mkfs(on: &Path, label: &str) {
    let on = on.to_str().expect("utf-8");
    tool("mkfs.ext4", &["-q", "-F", "-L", label, on]).expect("mkfs.ext4");
}

fn write(image: &Path, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let file = fs::OpenOptions::new().write(true).open(image);
    file.and_then(|file| file.write_all_at(bytes, at))
        .expect("written");
}

/// A DOS table with one Linux partition from sector 2048, 8 MiB long.
fn dos_table(image: &Path) {
    let mut entry = [0u8; 16];
    entry[4] = 0x83;
    entry[8..12].copy_from_slice(&2048u32.to_le_bytes());
    entry[12..16].copy_from_slice(&16384u32.to_le_bytes());
    write(image, 446, &entry);
    write(image, 510, &[0x55, 0xAA]);
}

/// A mount that goes with this, in a private namespace of the test's thread.
struct Mounted(PathBuf);

impl Mounted {
    fn new(device: &str, at: PathBuf) -> Mounted {
        fs::create_dir_all(&at).expect("a mount point");
        mount(
            Some(device),
            &at,
            Some("ext4"),
            MsFlags::empty(),
            None::<&str>,
        )
        .expect("mounted");
        Mounted(at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        umount(&self.0).expect("unmounted");
    }
}

struct Swapped(String);

impl Drop for Swapped {
    fn drop(&mut self) {
        tool("swapoff", &[&self.0]);
    }
}

/// Arguments that were refused, counted.
struct Refusals<'p> {
    place: &'p Place,
    count: usize,
}

impl Refusals<'_> {
    /// `run` on ext4 with these arguments must end with 2 and say these words.
    fn device(&mut self, args: &[&str], words: &str) {
        let mut all = vec!["create", "--engine", "null", "--on", "ext4"];
        all.extend(args);
        self.run(&all, words);
    }

    /// The same of a device, as it is, by a link, and with leave to destroy it.
    fn never(&mut self, device: &str, words: &str) {
        self.device(&["--device", device], words);
        self.device(&["--device", device, "--destroy", device], words);
        // A link whose name has a blank and a line break in it.
        let link = self.place.path(&format!("a link\n{}", self.count));
        symlink(device, &link).expect("a link");
        let link = link.to_str().expect("utf-8");
        self.device(&["--device", link, "--destroy", link], words);
    }

    fn run(&mut self, args: &[&str], words: &str) {
        let output = self.place.run(args).output().expect("it runs");
        let shown = text(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {shown}");
        assert!(shown.contains(words), "{args:?}: {shown}");
        assert!(shown.lines().count() <= 4, "{args:?}: {shown}");
        assert!(self.place.entries("results").is_empty(), "{args:?}");
        self.count += 1;
    }
}

#[test]
fn devices_that_are_somebodys() {
    if !can_mount() {
        return;
    }
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS).expect("a namespace of its own");
    let private = MsFlags::MS_PRIVATE | MsFlags::MS_REC;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).expect("private mounts");
    let place = Place::new();
    let used = Disk::ext4(&place, "mounted.img");
    let foreign = Disk::ext4(&place, "foreign.img");
    let bytes = Disk::new(&place, "bytes.img", |image| write(image, 0, b"thesis"), &[]);
    let table = Disk::new(&place, "table.img", dos_table, &[]);
    let gpt = Disk::new(&place, "gpt.img", |i| write(i, 512, b"EFI PART"), &[]);
    let parts = Disk::new(&place, "parts.img", dos_table, &[]);
    let read_only = Disk::new(&place, "ro.img", |_| {}, &["--read-only"]);
    let twice = Disk::plain(&place, "twice.img");
    let again = tool(
        "losetup",
        &["--find", "--show", twice.image.to_str().expect("utf-8")],
    );
    let again = Disk {
        image: twice.image.clone(),
        device: again.expect("a second loop device"),
    };
    let over = tool("losetup", &["--find", "--show", &used.device]);
    let over = Disk {
        image: used.image.clone(),
        device: over.expect("a loop device on a loop device"),
    };
    let partition = parts.with_partition();
    mkfs(Path::new(&partition), "photos");
    let hold = [
        Mounted::new(&used.device, place.path("mnt")),
        Mounted::new(&partition, place.path("mnt2")),
    ];
    tool("sync", &[]);
    let all = [
        &used, &foreign, &bytes, &table, &gpt, &parts, &read_only, &twice,
    ];
    let before: Vec<u64> = all.iter().map(|disk| disk.hash()).collect();

    let mut refused = Refusals {
        place: &place,
        count: 0,
    };
    refused.never(&used.device, "never overwritten");
    refused.never(&over.device, "never overwritten");
    refused.never(&partition, "never overwritten");
    refused.never(&parts.device, "never overwritten");
    refused.never(&table.device, "is partitioned");
    refused.never(&gpt.device, "is partitioned");
    refused.never(&read_only.device, "read-only");
    refused.never(&twice.device, "sit on the same");
    refused.never(&again.device, "sit on the same");
    for disk in [&foreign, &bytes] {
        refused.device(&["--device", &disk.device], "add --destroy");
        let other = &twice.device;
        refused.device(
            &["--device", &disk.device, "--destroy", other],
            "is no --device",
        );
    }
    for image in [&foreign.image, &used.image] {
        refused.device(
            &["--device", image.to_str().expect("utf-8")],
            "not a block device",
        );
    }
    println!("{} arguments refused", refused.count);
    assert!(refused.count >= 30);
    let after: Vec<u64> = all.iter().map(|disk| disk.hash()).collect();
    assert_eq!(before, after, "an image was changed");
    drop(hold);
    place.assert_nothing_left_but_loops("after refusals");
}

#[test]
fn swap_and_the_image_of_another_run() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let swap = Disk::plain(&place, "swap.img");
    tool("mkswap", &[&swap.device]).expect("mkswap");
    let mut refused = Refusals {
        place: &place,
        count: 0,
    };
    refused.device(&["--device", &swap.device], "holds swap");
    match tool("swapon", &[&swap.device]) {
        Some(_) => {
            let _swapped = Swapped(swap.device.clone());
            refused.never(&swap.device, "swapped on");
        }
        None => eprintln!("SKIPPED: swapon is not permitted here"),
    }
    let other = Place::new();
    let mut command = other.run(&["create", "--engine", "null", "--on", "ext4"]);
    command.env("MOUNTMARK_HOLD_AT", "prepare");
    let run = Running::until(command, "holding at");
    let devices = fs::read_dir("/sys/block").expect("sysfs").flatten();
    let here = other.path("images").to_string_lossy().into_owned();
    let of_run = devices.map(|d| d.path()).find(|device| {
        let backing = fs::read_to_string(device.join("loop/backing_file"));
        backing.is_ok_and(|file| file.contains(&here))
    });
    let of_run = of_run.expect("the image of the run is attached");
    let device = Path::new("/dev").join(of_run.file_name().expect("a name"));
    let device = device.to_str().expect("utf-8");
    refused.device(
        &["--device", device, "--destroy", device],
        "image of a run of mountmark",
    );
    run.signal(Signal::SIGTERM);
    run.end();
}

#[test]
fn the_disk_of_the_root_is_never_fit() {
    if !can_mount() {
        return;
    }
    let root = mountinfo::holder_of(Path::new("/")).ok();
    let Some(device) = root.and_then(|mount| mount.device()) else {
        eprintln!("SKIPPED: the root file system is on no device that can be seen");
        return;
    };
    let place = Place::new();
    let link = place.path("link");
    symlink(&device, &link).expect("a link");
    for path in [device.as_path(), &link] {
        let output = place
            .command()
            .args(["plan", "create", "--on", "ext4", "--device"])
            .arg(path)
            .arg("--destroy")
            .arg(path)
            .output()
            .expect("it runs");
        let shown = text(&output);
        assert!(shown.contains("never overwritten"), "{shown}");
    }
}

#[test]
fn what_is_no_device_and_no_directory() {
    let place = Place::new();
    let fifo = place.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    let odd = place.path("line\nbreak and blank");
    fs::write(&odd, "x").expect("a file");
    let root_link = place.path("root");
    symlink("/", &root_link).expect("a link");
    let nowhere = place.path("dangling");
    symlink(place.path("gone"), &nowhere).expect("a link");
    let name = |path: &Path| path.to_str().expect("utf-8").to_string();
    let file = name(&place.path("data/somebody-elses"));
    let mut refused = Refusals {
        place: &place,
        count: 0,
    };
    let data = name(&place.path("data"));
    for root in ["/", "/.", "/usr/..", &name(&root_link)] {
        refused.run(
            &["create", "--engine", "null", "--on", root],
            "root directory",
        );
    }
    refused.run(
        &["create", "--on", &data, "--device", "/dev/null"],
        "are made",
    );
    refused.run(
        &["create", "--on", &data, "--image-dir", &file],
        "not a directory",
    );
    refused.run(
        &["create", "--on", &data, "--image-dir", "/no/such"],
        "/no/such",
    );
    refused.run(
        &["create", "--on", &data, "--destroy", "/dev/vda"],
        "is no --device",
    );
    refused.run(&["--resume", &data], "there is no run");
    if can_mount() {
        for other in [
            "/",
            "/dev/null",
            "/no/such",
            "",
            &data,
            &file,
            &name(&fifo),
            &name(&odd),
            &name(&nowhere),
            &name(&root_link),
        ] {
            refused.device(&["--device", other], "");
        }
        let odd = name(&odd);
        refused.device(&["--device", &odd], "line\\nbreak");
        refused.device(
            &["--device", "/dev/loop0", "--device", "/dev/loop0"],
            "twice",
        );
    }
    assert_eq!(fs::read_to_string(&file).expect("kept"), "untouched");
    place.assert_nothing_left("after refusals");
}

#[test]
fn two_devices_let_duets_play() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let disks = ["a.img", "b.img"].map(|name| Disk::plain(&place, name));
    let run = |more: &[&str]| {
        let args = ["create", "--profile", "small-test", "--loops", "0.05"];
        let mut all = [
            &args[..],
            &["--on", "ext2", "--on", "ext4", "--rounds", "2"],
        ]
        .concat();
        all.extend(["--device", &disks[0].device]);
        all.extend(more);
        let output = place.run(&all).output().expect("it runs");
        (output.status.code(), text(&output))
    };
    let (code, shown) = run(&["--duet", "on"]);
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("name a second --device"), "{shown}");
    let (code, shown) = run(&["--device", &disks[1].device, "--duet", "on"]);
    assert_eq!(code, Some(0), "{shown}");
    let results = place.results();
    for case in &results.cases {
        // The two change places from round to round.
        let lane = (case.duet.as_ref().expect("a duet").side + case.round as usize) % 2;
        let device = case.target.as_ref().and_then(|t| t.device.as_ref());
        assert_eq!(device.expect("a device").device, disks[lane].device);
    }
    drop(disks);
    place.assert_nothing_left("after the run");
}

#[test]
fn a_partition_can_be_used_and_its_flushes_are_counted() {
    if !can_mount() {
        return;
    }
    let place = Place::new();
    let disk = Disk::new(&place, "parts.img", dos_table, &[]);
    let partition = disk.with_partition();
    let table = fs::read(&disk.image).expect("readable")[..512].to_vec();
    let args = [
        "create",
        "--profile",
        "small-test",
        "--loops",
        "0.1",
        "--on",
        "ext4",
        "--on",
        "ext4:nobarrier",
        "--device",
        &partition,
    ];
    for _ in 0..2 {
        // Blank first, then with a file system of ours: neither needs leave.
        let output = place.run(&args).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    }
    let results = place.results();
    for (number, case) in results.cases.iter().enumerate() {
        let target = case.target.as_ref().expect("a target");
        let device = target.device.as_ref().expect("a device");
        assert_eq!(device.device, partition);
        assert!(device.in_memory, "{device:?}");
        let ends = case.phases[0].ends.expect("three ends");
        let counts = ends.returned.device.expect("counters");
        let nobarrier = case.case.target.contains("nobarrier");
        assert_eq!(counts.flushes == 0, nobarrier, "{number}: {counts:?}");
        assert!(counts.written_bytes > 0);
    }
    assert_eq!(fs::read(&disk.image).expect("readable")[..512], table);
    assert!(results.run.image.is_none());
    drop(disk);
    place.assert_nothing_left("after the runs");
}
