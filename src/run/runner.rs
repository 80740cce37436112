//! The rounds: every case in its turn, stored as soon as it has ended.

use std::path::PathBuf;

use super::environment::{Environment, Options};
use super::event::{Event, Observer, Tell, Watcher};
use super::resume::{self, Done};
use super::{ceiling, keep, lifecycle};
use crate::compare::{Choice, Figure, Next, Rule, UntilSure, within};
use crate::error::{Context, Result};
use crate::host::{Facts, Ledger, interrupt, now_utc};
use crate::plan::{Case, Plan, orders};
use crate::record::{
    self, CaseRecord, Ending, FORMAT, KeyRecord, Outcome, PlanRecord, RunRecord, Store,
    UntilSureRecord,
};

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Where it is stored.
    pub dir: PathBuf,
    /// Cases measured to their end.
    pub measured: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Cases that cannot be measured here.
    pub skipped: usize,
    /// A signal ended the run.
    pub interrupted: bool,
}

/// Runs `plan`. A case that fails is a record; the others go on.
///
/// # Errors
/// When the run cannot begin or its results cannot be saved; an interrupt before the
/// first case. An interrupt later is told in the summary.
pub fn execute(plan: &Plan, options: &Options, observer: &mut dyn Observer) -> Result<Summary> {
    let ledger = ledger(options)?;
    let mut remarks = Vec::new();
    for other in ledger.others()? {
        remarks.push(format!(
            "another mountmark (process {}) ran at the same time: the two disturb each other",
            other.pid
        ));
    }
    for remark in &remarks {
        observer.tell(&Event::Note(remark.clone()));
    }
    let mut environment = Environment::new(plan, options, ledger)?;
    let cpus = plan.cases.first().map(|case| case.key.cpus);
    let (_, cpus) = cpus.map_or_else(Default::default, |c| c.place(&environment.cpus));
    let ceiling = ceiling::measure(plan, &cpus, &environment.lanes[0].worker_log)?;
    environment.ceiling = Some(ceiling.clone());
    let mut run = record(plan, options, remarks);
    run.image = environment.lanes[0].image_record();
    run.ceiling = Some(ceiling);
    let (mut store, done) = match &options.resume {
        Some(dir) => {
            let (store, done, notes) =
                resume::open(dir, &run, environment.lanes[0].device_record().as_ref())?;
            notes
                .into_iter()
                .for_each(|n| observer.tell(&Event::Note(n)));
            (store, done)
        }
        None => (Store::create(&options.results, run)?, Done::default()),
    };
    let mut summary = Summary {
        dir: store.dir().to_path_buf(),
        ..Summary::default()
    };
    let rounds_known = plan.rounds.max(done.rounds) as usize;
    observer.tell(&Event::Started {
        measurements: (plan.per_round() * rounds_known).saturating_sub(done.len()),
        dir: summary.dir.clone(),
    });
    rounds(
        (plan, &done),
        options,
        &mut environment,
        (&mut store, &mut summary),
        observer,
    )?;
    store.update(|run| {
        run.ended = Some(now_utc());
        run.ending = Some(match summary.interrupted {
            true => Ending::Interrupted,
            false => Ending::Complete,
        });
    })?;
    environment.close()?;
    Ok(summary)
}

/// The state file; that of a resumed run may still be there.
fn ledger(options: &Options) -> Result<Ledger> {
    let opened = Ledger::open(&options.run_id);
    match &options.resume {
        None => opened,
        Some(_) => opened.with_context(|| {
            format!(
                "run {} is still running, or was killed: then 'mountmark clean' comes first",
                options.run_id
            )
        }),
    }
}

fn rounds(
    (plan, done): (&Plan, &Done),
    options: &Options,
    environment: &mut Environment,
    (store, summary): (&mut Store, &mut Summary),
    observer: &mut dyn Observer,
) -> Result<()> {
    let most = plan.until_sure.map_or(plan.rounds, |rule| rule.most);
    let orders = orders(&plan.twins(), most, plan.seed);
    let mut position = 0;
    let watcher = Watcher::new(observer);
    let known = plan.rounds.max(done.rounds);
    for round in 0..most {
        if round >= known && next(plan, store)? != Some(Next::Another) {
            break;
        }
        if round >= known {
            store.update(|run| {
                run.plan.rounds = round + 1;
                run.plan.order = orders[..=round as usize].to_vec();
            })?;
            watcher.tell(&Event::RoundAdded {
                measurements: plan.per_round(),
            });
        }
        for index in &orders[round as usize] {
            let unit = &plan.units[*index];
            if done.has(plan, unit, round) {
                continue;
            }
            let place = (round, position);
            for mut record in measure(plan, options, environment, (unit, *index), place, &watcher) {
                keep::after(&mut record, environment, plan, options)?;
                store.append(&record)?;
                watcher.tell(&Event::CaseFinished {
                    name: plan.name_of(|key| KeyRecord::from(key) == record.case),
                    record: &record,
                });
                count(summary, &record);
                position += 1;
            }
            if summary.interrupted || interrupt::check().is_err() {
                summary.interrupted = true;
                return Ok(());
            }
        }
    }
    let narrow = next(plan, store)?.map(|next| next == Next::Narrow);
    store.update(|run| {
        if let Some(rule) = &mut run.plan.until_sure {
            rule.narrow = narrow;
        }
    })
}

/// Measures one case, or the two of a duet.
fn measure(
    plan: &Plan,
    options: &Options,
    environment: &Environment,
    (unit, index): (&[usize], usize),
    (round, position): (u32, usize),
    watcher: &dyn Tell,
) -> Vec<CaseRecord> {
    let cases: Vec<&Case> = unit.iter().map(|case| &plan.cases[*case]).collect();
    watcher.tell(&Event::CaseStarted {
        case: &cases[cases.len() - 1].key,
        name: plan.unit_name(unit),
        round,
        position,
    });
    match cases[..] {
        [a, b] => {
            // Who begins alternates over rounds, and between the pairs of a round.
            let first = (round as usize + index) % 2;
            let both = lifecycle::measure_duet(
                (plan, options),
                environment,
                [a, b],
                (round, first),
                watcher,
            );
            both.into()
        }
        _ => vec![lifecycle::measure(
            (plan, options),
            environment,
            cases[0],
            round,
            watcher,
        )],
    }
}

/// Whether rounds are to be added, where the plan adds any. Only widths are looked at,
/// never what the intervals say: stopping at a difference would find one where there is
/// none.
fn next(plan: &Plan, store: &Store) -> Result<Option<Next>> {
    let Some(rule) = plan.until_sure else {
        return Ok(None);
    };
    let results = record::load(store.dir())?;
    let comparisons = within(
        &results,
        &Choice {
            baseline: None,
            figure: Figure::usual(&results.cases),
            rule: Rule::default().with_threshold(plan.threshold)?,
        },
    );
    let judged = comparisons.list.iter().filter_map(|c| c.judgement.as_ref());
    let estimates: Vec<_> = judged.map(|j| j.estimate).collect();
    let until = UntilSure::new(rule.width, rule.most as usize, comparisons.rule)?;
    // Without estimates it is narrow: no number of rounds would change that.
    let rounds = results.run.plan.rounds as usize;
    Ok(Some(until.next(rounds, &estimates)))
}

fn count(summary: &mut Summary, record: &CaseRecord) {
    match record.outcome {
        Outcome::Measured => summary.measured += 1,
        Outcome::Failed { .. } => summary.failed += 1,
        Outcome::Skipped { .. } => summary.skipped += 1,
        Outcome::Interrupted { .. } => summary.interrupted = true,
    }
}

fn record(plan: &Plan, options: &Options, remarks: Vec<String>) -> RunRecord {
    RunRecord {
        format: FORMAT,
        id: options.run_id.clone(),
        label: plan.label.clone(),
        mountmark: env!("CARGO_PKG_VERSION").to_string(),
        started: now_utc(),
        ended: None,
        ending: None,
        arguments: options.arguments.clone(),
        plan: PlanRecord {
            cases: plan.cases.iter().map(|c| KeyRecord::from(&c.key)).collect(),
            rounds: plan.rounds,
            seed: plan.seed,
            baseline: plan.baseline.clone(),
            threshold: plan.threshold,
            until_sure: plan.until_sure.map(|rule| UntilSureRecord {
                width: rule.width,
                most: rule.most,
                narrow: None,
            }),
            units: plan.units.clone(),
            order: orders(&plan.twins(), plan.rounds, plan.seed),
            profile: plan.sqlbench.profile.to_string(),
            loops: plan.sqlbench.loops,
            fast: plan.sqlbench.fast,
            read_key_loops: plan.sqlbench.read_key_loops,
            many_keys_loops: plan.sqlbench.many_keys_loops,
            atis_data: plan
                .sqlbench
                .atis_data
                .as_ref()
                .map(|dir| dir.display().to_string()),
            time_limit_s: plan.sqlbench.time_limit_s,
            tune_memory: plan.tune_memory,
            load: plan.load.as_ref().map(Into::into),
        },
        host: Facts::read().into(),
        image: None,
        ceiling: None,
        remarks,
        imported: Vec::new(),
        published: None,
    }
}
