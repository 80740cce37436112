use super::*;

const FILE: &str = "\
# What it is for.

workload = [\"create\", \"insert\"]
on = [\"ext2\", \"xfs:noatime\"]
engine = \"sqlite\"
fast = true
rounds = 5
loops = 0.5

[short]
rounds = 1
fast = false
";

fn file() -> PlanFile {
    PlanFile::parse("p.toml", FILE).unwrap()
}

/// What the command line becomes, as text.
fn line(typed: &str, short: bool) -> String {
    let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
    let (line, _) = file().put_into(&typed, short).unwrap();
    let words: Vec<_> = line.iter().map(|w| w.to_string_lossy()).collect();
    words.join(" ")
}

fn wrong(text: &str) -> String {
    PlanFile::parse("p.toml", text).unwrap_err().to_string()
}

#[test]
fn a_file_stands_before_what_is_typed() {
    assert_eq!(
        line("mountmark run --plan p.toml --seed 3", false),
        "mountmark run create insert --on=ext2 --on=xfs:noatime --engine=sqlite --fast --rounds=5 \
         --loops=0.5 --plan p.toml --seed 3"
    );
}

#[test]
fn what_is_typed_replaces_the_whole_key() {
    assert_eq!(
        line(
            "mountmark plan load --plan p.toml --on tmpfs --loops 2",
            false
        ),
        "mountmark plan --engine=sqlite --fast --rounds=5 load --plan p.toml --on tmpfs --loops 2"
    );
}

#[test]
fn the_short_form_goes_before_the_rest() {
    assert_eq!(
        line("mountmark run --plan p.toml --short", true),
        "mountmark run create insert --on=ext2 --on=xfs:noatime --engine=sqlite --loops=0.5 \
         --rounds=1 --plan p.toml --short"
    );
    let file = PlanFile::parse("p.toml", "rounds = 2").unwrap();
    let error = file.put_into(&[], true).unwrap_err().to_string();
    assert!(error.contains("no section [short]"), "{error}");
}

#[test]
fn a_note_tells_the_plan_and_what_was_typed_over_it() {
    let typed = ["mountmark", "run", "--plan", "p.toml", "--on", "ext4"].map(OsString::from);
    let (_, notes) = file().put_into(&typed, false).unwrap();
    assert_eq!(
        notes,
        [
            "plan p.toml: What it is for",
            "what was typed replaces the plan's --on=ext2 --on=xfs:noatime"
        ]
    );
}

#[test]
fn every_long_option_is_a_key_but_for_those_that_are_typed() {
    let command = Args::command();
    let run = command.find_subcommand("run").unwrap();
    let typed_only = ["destroy", "allow-shell", "resume", "plan", "short"];
    for arg in run.get_arguments() {
        let Some(long) = arg.get_long() else { continue };
        let reader = Reader::new("p", "", &command).unwrap();
        let known = reader.keys().contains(&long);
        let expected = !typed_only.contains(&long) && !["help", "version"].contains(&long);
        assert_eq!(known, expected, "{long}");
    }
}

#[test]
fn faults_name_file_line_and_the_way_out() {
    for (text, words) in [
        (
            "rounds = 2\nroundz = 3\n",
            "p.toml:2: unknown key 'roundz'; did you mean 'rounds'?",
        ),
        (
            "wal_sync = \"fsync\"",
            "p.toml:1: unknown key 'wal_sync'; did you mean 'wal-sync'?",
        ),
        (
            "\n\nwokload = []",
            "p.toml:3: unknown key 'wokload'; did you mean 'workload'?",
        ),
        (
            "something-else = 1",
            "p.toml:1: unknown key 'something-else'; keys are the long",
        ),
        (
            "workload = [\"creat\"]",
            "p.toml:1: unknown workload 'creat'; did you mean 'create'?",
        ),
        (
            "rounds = 2\n[shrt]\nrounds = 1",
            "p.toml:2: unknown section [shrt]; the only one",
        ),
        (
            "[[run]]\nrounds = 1",
            "p.toml:1: unknown section [run]; the only one",
        ),
        ("[short]\nroundz = 1", "p.toml:2: unknown key 'roundz'"),
        ("short = true", "p.toml:1: 'short' is a section"),
        (
            "rounds = \"five\"",
            "p.toml:1: invalid value 'five' for '--rounds <N>'",
        ),
        (
            "rounds = [1, 2]",
            "p.toml:1: 'rounds' has one value, not a list: rounds = \"N\"",
        ),
        (
            "rounds = true",
            "p.toml:1: 'rounds' is not true or false: rounds = \"N\"",
        ),
        (
            "on = 1979-05-27",
            "p.toml:1: 'on' is not a date: on = [\"TARGET\", …]",
        ),
        ("on = [[\"ext4\"]]", "p.toml:1: 'on' is a list of values"),
        (
            "\non = \"ext5\"",
            "p.toml:2: invalid value 'ext5' for '--on <TARGET>'",
        ),
        (
            "fast = \"yes\"",
            "p.toml:1: 'fast' is true or false, not a text",
        ),
        ("rounds = 1\nrounds = 2", "p.toml:2: duplicate key"),
        ("rounds 5", "p.toml:1: "),
        (
            "destroy = \"/dev/sdb\"",
            "p.toml:1: 'destroy' cannot stand in a plan file: plan files",
        ),
        (
            "allow-shell = true",
            "'allow-shell' cannot stand in a plan file: plan files",
        ),
        ("plan = \"other\"", "'plan' cannot stand in a plan file"),
    ] {
        let error = wrong(text);
        assert!(error.contains(words), "{text}: {error}");
        assert!(!error.contains('\n'), "{text}: {error}");
    }
}

#[test]
fn the_built_in_plans_are_read_and_say_what_they_are() {
    let names = builtin::names();
    assert_eq!(names.len(), 7);
    for name in names {
        let file = PlanFile::read(name).unwrap();
        assert!(file.title.is_some(), "{name}");
        let text = ["mountmark", "run", "--plan", name].map(OsString::from);
        for short in [false, true] {
            let (line, _) = file.put_into(&text, short).unwrap();
            Args::try_parse_from(&line).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        let label = |entries: &[Entry]| {
            let label = entries.iter().find(|e| e.key == "label");
            label.map(|e| e.values.concat())
        };
        assert_eq!(label(&file.entries).as_deref(), Some(name));
        let short = label(file.short.as_deref().unwrap_or_default());
        assert_eq!(short, Some(format!("{name}-short")));
    }
}

#[test]
fn a_name_that_is_no_plan_lists_those_there_are() {
    let error = PlanFile::read("journal-mode").unwrap_err().to_string();
    assert!(error.contains("unknown plan 'journal-mode'"), "{error}");
    assert!(
        error.contains("journal-modes") && error.contains("or a file"),
        "{error}"
    );
    let error = PlanFile::read("absent.toml").unwrap_err().to_string();
    assert!(
        error.contains("cannot read the plan absent.toml"),
        "{error}"
    );
}
