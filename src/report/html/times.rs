//! The figure that verdicts stand on, of every case: bars with the range of the rounds.

use maud::{Markup, html};

use super::bars::{Bar, Bars, table};
use super::run::{Group, Member, Run, groups};
use crate::compare::Figure;
use crate::measure::stats::median;
use crate::record::KeyRecord;
use crate::report::files;
use crate::units::seconds;

/// Phases and trees by time, loads by transactions a second.
pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let of_kind = |loads: bool| {
        let wanted = |key: &KeyRecord| {
            key.load.is_some() == loads && key.workload != crate::workload::sync::WORKLOAD
        };
        groups(run, wanted)
    };
    let (times, loads) = (of_kind(false), of_kind(true));
    let members = || times.iter().chain(&loads).flat_map(|group| &group.members);
    let figure = times.first().map(|group| run.figure(group));
    let tables = [
        figure.as_ref().map(|figure| {
            let caption = format!("{}; less is better", figure.name());
            let settled = *figure == Figure::Settled;
            (caption, columns("median s", settled), bars(run, &times))
        }),
        loads.first().map(|group| {
            let caption = match run.figure(group) {
                Figure::Transactions => "transactions/s of the whole load; more is better".into(),
                figure => format!("{}; less is better", figure.name()),
            };
            (caption, columns("median", false), bars(run, &loads))
        }),
    ];
    let mut tables = tables
        .into_iter()
        .flatten()
        .filter(|(.., bars)| !bars.is_empty())
        .peekable();
    tables.peek()?;
    Some(html! {
        p {
            "Bars end at the median of the rounds; the thin line goes from the lowest to the highest round. "
            @if figure == Some(Figure::Settled) {
                "The full part of a bar is the time until the last statement was answered (returned), the pale part what it then took until everything was on the device and the server had nothing left to write (settled). "
            }
            @if members().any(|member| member.control.is_some()) {
                "Dashed lines are negative controls: the same work without waiting for a disk, which is what the others could gain at most."
            }
        }
        @for (caption, columns, bars) in tables { (table(&caption, &columns, &bars, run.budget)) }
    })
}

fn columns(first: &'static str, settled: bool) -> Vec<&'static str> {
    let mut columns = vec![first];
    if settled {
        columns.push("returned s");
    }
    columns.extend(["lowest to highest", "measured"]);
    columns
}

/// Without groups of which no case has the figure.
fn bars(run: &Run<'_>, groups: &[Group<'_>]) -> Vec<Bars> {
    let of_group = |group: &Group<'_>| {
        let figure = run.figure(group);
        let bars: Vec<Bar> = group
            .members
            .iter()
            .map(|member| bar(member, &figure))
            .collect();
        bars.iter().any(|b| b.value.is_some()).then(|| Bars {
            title: group.title.clone(),
            bars,
        })
    };
    groups.iter().filter_map(of_group).collect()
}

fn bar(member: &Member<'_>, figure: &Figure) -> Bar {
    let values = member.values(|case| figure.of(case));
    let value = median(&values);
    let range = values
        .iter()
        .copied()
        .fold(None, |range: Option<(f64, f64)>, v| {
            Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        });
    let range = range.filter(|_| values.len() > 1);
    let mut cells = vec![value.map_or_else(|| files::absent(member.cases).to_string(), seconds)];
    let mut first = None;
    if *figure == Figure::Settled {
        first = member.median(|case| Figure::Returned.of(case));
        cells.push(first.map_or(String::new(), seconds));
    }
    cells.push(range.map_or(String::new(), |(low, high)| {
        format!("{} to {}", seconds(low), seconds(high))
    }));
    cells.push(values.len().to_string());
    Bar {
        name: member.marked(),
        color: member.color,
        value,
        first,
        range,
        control: member.control,
        cells,
    }
}
