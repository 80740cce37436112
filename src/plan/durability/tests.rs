//! One row a case of the power cuts that were tried, and of the devices there are.

use super::*;

fn fs(fs_type: &str, options: &str) -> Layer {
    Layer::FileSystem {
        fs_type: fs_type.to_string(),
        at: "/mnt".into(),
        options: options.split(',').map(str::to_string).collect(),
    }
}

fn image() -> Layer {
    Layer::Loop {
        name: "loop0".to_string(),
        write_back: true,
    }
}

fn disk(write_back: bool) -> Layer {
    Layer::Disk {
        name: "vda".to_string(),
        write_back,
        fua: false,
    }
}

/// On an image held by ext4 on a disk with a volatile cache.
fn on_image(fs_type: &str, options: &str) -> Vec<Layer> {
    vec![
        fs(fs_type, options),
        image(),
        fs("ext4", "rw,relatime,barrier"),
        disk(true),
    ]
}

fn settings(pairs: &str) -> Settings {
    let pairs = pairs.split_whitespace().map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_string(), value.to_string())
    });
    pairs.collect()
}

/// In a word and the reason: `yes /dev/vda`, `no tmpfs is memory`, `unknown …`.
fn told(facts: &Facts<'_>) -> String {
    match durability(facts) {
        Durability::HonouredTo(device) => format!("yes {device}"),
        Durability::NotDurable(reason) => format!("no {reason}"),
        Durability::Unknown(reason) => format!("unknown {reason}"),
    }
}

fn of_chain(chain: &[Layer]) -> String {
    told(&Facts {
        chain,
        engine: None,
        counted: None,
    })
}

fn of_engine(kind: Kind, pairs: &str) -> String {
    told(&Facts {
        chain: &on_image("ext4", "rw"),
        engine: Some((kind, &settings(pairs))),
        counted: None,
    })
}

#[test]
fn file_systems_and_their_options() {
    for (fs_type, options, expected) in [
        ("ext2", "rw,relatime", "yes /dev/vda"),
        ("ext3", "rw,data=journal,barrier", "yes /dev/vda"),
        ("ext4", "rw,data=writeback", "yes /dev/vda"),
        ("xfs", "rw,attr2,inode64", "yes /dev/vda"),
        ("btrfs", "rw,nodatacow", "yes /dev/vda"),
        ("ext4", "rw,nobarrier", "no ext4 with nobarrier"),
        ("ext4", "rw,barrier=0", "no ext4 with barrier=0"),
        ("btrfs", "rw,nobarrier", "no btrfs with nobarrier"),
        (
            "reiserfs",
            "rw,barrier=none",
            "no reiserfs with barrier=none",
        ),
        ("jfs", "rw", "no jfs never flushes"),
    ] {
        let found = of_chain(&on_image(fs_type, options));
        assert_eq!(found, expected, "{fs_type} {options}");
    }
}

#[test]
fn devices() {
    let ext4 = || fs("ext4", "rw");
    let unsafe_holder = |holder| vec![ext4(), image(), holder, disk(true)];
    for (chain, expected) in [
        (vec![fs("tmpfs", "rw")], "no tmpfs is memory"),
        (vec![ext4(), disk(true)], "yes /dev/vda"),
        (vec![ext4(), disk(false)], "yes /dev/vda"),
        // Without a volatile cache, there is nothing to flush.
        (
            vec![fs("ext4", "rw,nobarrier"), disk(false)],
            "yes /dev/vda",
        ),
        (vec![fs("jfs", "rw"), disk(false)], "yes /dev/vda"),
        (
            vec![
                ext4(),
                Layer::Memory {
                    name: "zram0".into(),
                },
            ],
            "no zram0 is memory",
        ),
        (
            vec![ext4(), image(), fs("tmpfs", "rw")],
            "no tmpfs is memory (it holds the image)",
        ),
        (
            unsafe_holder(fs("ext4", "rw,nobarrier")),
            "no ext4 with nobarrier (it holds the image)",
        ),
        (
            unsafe_holder(fs("jfs", "rw")),
            "no jfs never flushes (it holds the image)",
        ),
        (
            vec![
                ext4(),
                Layer::Loop {
                    name: "loop0".into(),
                    write_back: false,
                },
                ext4(),
                disk(true),
            ],
            "no loop0 hides that its image has a cache: flushes end there",
        ),
        (
            vec![
                ext4(),
                Layer::Stacked {
                    name: "dm-0".into(),
                },
                disk(true),
            ],
            "yes /dev/vda",
        ),
        (
            vec![fs("overlay", "rw,volatile"), ext4(), disk(true)],
            "no overlay with volatile",
        ),
        (
            vec![fs("overlay", "rw"), ext4(), disk(true)],
            "yes /dev/vda",
        ),
        (
            vec![fs("nfs4", "rw"), Layer::Unseen("the server of nfs4".into())],
            "unknown the server of nfs4 cannot be seen",
        ),
        (vec![], "unknown no device can be seen"),
        // What is surely lost outweighs what cannot be seen.
        (
            vec![
                fs("ext4", "rw,nobarrier"),
                Layer::Unseen("the other end of nbd0".into()),
            ],
            "no ext4 with nobarrier",
        ),
    ] {
        assert_eq!(of_chain(&chain), expected, "{chain:?}");
    }
}

#[test]
fn sqlite() {
    for (journal, synchronous, expected) in [
        ("wal", "full", "yes /dev/vda"),
        ("wal", "extra", "yes /dev/vda"),
        ("wal", "normal", "no synchronous=normal with"),
        ("wal", "off", "no synchronous=off"),
        ("delete", "extra", "yes /dev/vda"),
        (
            "delete",
            "full",
            "no synchronous=full with journal_mode=delete: the last",
        ),
        ("delete", "normal", "no synchronous=normal with"),
        ("delete", "off", "no synchronous=off"),
        ("truncate", "full", "yes /dev/vda"),
        ("persist", "full", "yes /dev/vda"),
        ("persist", "normal", "no synchronous=normal with"),
        ("memory", "extra", "no journal_mode=memory"),
        ("off", "full", "no journal_mode=off"),
    ] {
        let pairs = format!("journal_mode={journal} synchronous={synchronous}");
        let found = of_engine(Kind::Sqlite, &pairs);
        assert!(found.starts_with(expected), "{pairs}: {found}");
    }
    assert!(of_engine(Kind::Sqlite, "").starts_with("unknown the setting"));
}

#[test]
fn postgres() {
    const SAFE: &str =
        "fsync=on synchronous_commit=on full_page_writes=on wal_sync_method=fdatasync";
    assert_eq!(of_engine(Kind::Postgres, SAFE), "yes /dev/vda");
    for (from, to, expected) in [
        ("fsync=on", "fsync=off", "no fsync=off"),
        ("commit=on", "commit=off", "no synchronous_commit=off"),
        ("commit=on", "commit=local", "yes /dev/vda"),
        ("writes=on", "writes=off", "no full_page_writes=off"),
        ("fdatasync", "open_datasync", "yes /dev/vda"),
        (
            "fdatasync",
            "new_way",
            "unknown what wal_sync_method=new_way",
        ),
        (
            "full_page_writes=on",
            "",
            "unknown the setting full_page_writes",
        ),
    ] {
        let found = of_engine(Kind::Postgres, &SAFE.replace(from, to));
        assert!(found.starts_with(expected), "{to}: {found}");
    }
}

#[test]
fn mysql_and_mariadb() {
    const SAFE: &str = "innodb_flush_log_at_trx_commit=1 log_bin=OFF sync_binlog=0 \
         innodb_flush_method=O_DIRECT innodb_doublewrite=ON default_storage_engine=InnoDB";
    for (from, to, expected) in [
        ("", "", "yes /dev/vda"),
        (
            "commit=1",
            "commit=2",
            "no innodb_flush_log_at_trx_commit=2",
        ),
        (
            "commit=1",
            "commit=0",
            "no innodb_flush_log_at_trx_commit=0",
        ),
        ("commit=1", "commit=3", "yes /dev/vda"),
        ("log_bin=OFF", "log_bin=ON", "no sync_binlog=0"),
        (
            "log_bin=OFF sync_binlog=0",
            "log_bin=ON sync_binlog=1",
            "yes /dev/vda",
        ),
        ("O_DIRECT", "nosync", "no innodb_flush_method=nosync"),
        ("O_DIRECT", "O_DIRECT_NO_FSYNC", "yes /dev/vda"),
        ("write=ON", "write=OFF", "no innodb_doublewrite=off"),
        ("InnoDB", "MyISAM", "no myisam tables"),
        ("InnoDB", "Aria", "yes /dev/vda"),
        (
            "InnoDB",
            "Aria aria_group_commit=soft",
            "no aria_group_commit=soft",
        ),
    ] {
        for kind in [Kind::Mysql, Kind::Mariadb] {
            let found = of_engine(kind, &SAFE.replacen(from, to, 1));
            assert!(found.starts_with(expected), "{to}: {found}");
        }
    }
}

#[test]
fn counted_flushes_outweigh_settings() {
    let safe = settings("journal_mode=wal synchronous=full");
    let counted = |chain: &[Layer], commits, flushes| {
        told(&Facts {
            chain,
            engine: Some((Kind::Sqlite, &safe)),
            counted: Some(Counted { commits, flushes }),
        })
    };
    let chain = on_image("ext4", "rw");
    assert_eq!(counted(&chain, 100, 100), "yes /dev/vda");
    assert_eq!(counted(&chain, 0, 0), "yes /dev/vda");
    assert_eq!(
        counted(&chain, 100, 0),
        "no 100 commits and not one flush of the device"
    );
    // A device without a volatile cache is sent none.
    assert_eq!(
        counted(&[fs("ext4", "rw"), disk(false)], 100, 0),
        "yes /dev/vda"
    );
}

#[test]
fn an_engine_that_pretends_commits_nothing() {
    assert!(of_engine(Kind::Null, "").starts_with("unknown no database"));
}
