//! Loads: transactions a second over tuples and over time, latency by percentile, and the
//! table of all figures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use maud::{Markup, html};

use super::answer::sentence;
use super::plot::{Axis, MOST, Plot, Series, Span, legend, thinned};
use super::run::Run;
use super::scale::{Scale, tick};
use super::table::{framed, of_grid};
use crate::measure::stats::median;
use crate::record::{LatencyRecord, LoadRecord};
use crate::report::load::figures::{measured, ms, rate};
use crate::report::load::{Column, Loads};
use crate::units::seconds;

pub(super) fn section(run: &Run<'_>) -> Option<Markup> {
    let loads = Loads::of(run.results)?;
    let names = loads.names();
    let cases: Vec<Case<'_>> = loads
        .columns
        .iter()
        .zip(&names)
        .enumerate()
        .map(|(number, (column, name))| Case {
            name,
            number,
            column,
        })
        .filter(|case| case.loads().next().is_some())
        .collect();
    let [title, common] = loads.title();
    let table = loads.table(run.results, true);
    let drawn = &cases[..cases.len().min(MOST)];
    Some(html! {
        p { (sentence(&title)) "; " (common) "." }
        @if drawn.len() < cases.len() {
            p.note { "The charts show the first " (drawn.len()) " of " (cases.len()) " cases; the table has all." }
        }
        @if let Some(chart) = over_tuples(run, drawn) { h3 { "Over tuples" } (chart) }
        @if let Some(charts) = over_time(run, drawn) { h3 { "Over time" } (charts) }
        @if let Some(chart) = latency(run, drawn) { h3 { "Latency" } (chart) }
        h3 { "Figures of the loads" }
        (of_grid(&table, "Medians over the rounds; transactions/s where nothing else is said", run.budget))
    })
}

/// What a line has above it.
const ROOM: f64 = 1.06;

/// One case of the loads.
struct Case<'l> {
    name: &'l str,
    /// Its place among all, which is its colour.
    number: usize,
    column: &'l Column<'l>,
}

impl<'l> Case<'l> {
    /// Its measured rounds.
    fn loads(&self) -> impl Iterator<Item = &'l LoadRecord> {
        self.column
            .cases
            .iter()
            .filter_map(|case| Some(measured(case)?.load))
    }

    /// The round in the middle, by transactions a second.
    fn middle(&self) -> Option<&'l LoadRecord> {
        let mut loads: Vec<&LoadRecord> = self.loads().collect();
        loads.sort_by(|a, b| a.tps().total_cmp(&b.tps()));
        loads.get(loads.len().checked_sub(1)? / 2).copied()
    }

    fn series(&self, points: Vec<(f64, f64)>, dots: bool) -> Series {
        Series {
            name: self.name.to_string(),
            color: self.number,
            points,
            dots,
        }
    }
}

fn highest(series: &[Series], of: fn(&(f64, f64)) -> f64) -> f64 {
    let points = series.iter().flat_map(|s| &s.points);
    points.map(of).fold(0.0, f64::max)
}

fn lowest(series: &[Series], of: fn(&(f64, f64)) -> f64) -> f64 {
    let points = series.iter().flat_map(|s| &s.points);
    points.map(of).fold(f64::INFINITY, f64::min)
}

/// Cumulative transactions a second at each checkpoint; its numbers are the first rows of
/// the table.
fn over_tuples(run: &Run<'_>, cases: &[Case<'_>]) -> Option<Markup> {
    let series: Vec<Series> = cases
        .iter()
        .map(|case| {
            let all = || case.loads().flat_map(|load| &load.checkpoints);
            let mut counts: Vec<u64> = all().map(|c| c.transactions).collect();
            counts.sort_unstable();
            counts.dedup();
            let point = |count: u64| {
                let rates = all().filter(|c| c.transactions == count).map(|c| c.tps());
                Some((count as f64, median(&rates.collect::<Vec<f64>>())?))
            };
            case.series(counts.into_iter().filter_map(point).collect(), true)
        })
        .filter(|series| !series.points.is_empty())
        .collect();
    if series.is_empty() {
        return None;
    }
    let (low, high) = (lowest(&series, |p| p.0), highest(&series, |p| p.0));
    let scale = match high / low {
        r if r > 15.0 => Scale::log(low, high),
        _ => Scale::from_zero(high),
    };
    let plot = Plot {
        id: run.id("tuples"),
        title: "transactions/s over tuples",
        about: "Cumulative transactions a second when so many transactions had been committed; \
                the numbers are the first rows of the table of figures.",
        x: &Axis::new(scale, "transactions committed, over all clients"),
        y: &Axis::new(
            Scale::from_zero(highest(&series, |p| p.1)),
            "transactions/s so far",
        ),
        series: &series,
        spans: &[],
        height: 260,
    };
    Some(html! {
        figure {
            (legend(&series))
            (plot.draw())
            figcaption { "All transactions so far by all time so far, at each checkpoint; medians over the rounds. The numbers are the first rows of the table below." }
        }
    })
}

/// A load over time.
struct Course {
    line: Series,
    /// Of each interval, by its end.
    rates: Vec<(f64, f64)>,
    /// WAL checkpoints.
    spans: Vec<Span>,
}

/// Transactions a second of each interval of the round in the middle: a chart a case, all
/// on the same scales.
fn over_time(run: &Run<'_>, cases: &[Case<'_>]) -> Option<Markup> {
    let lines: Vec<Course> = cases
        .iter()
        .filter_map(|case| {
            let load = case.middle()?;
            let rates = thinned(&rates(&load.progress));
            let line = case.series(steps(&rates), false);
            (!rates.is_empty()).then(|| Course {
                line,
                rates,
                spans: spans(load),
            })
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let of = |pick: fn(&(f64, f64)) -> f64| {
        let points = lines.iter().flat_map(|course| &course.rates);
        points.map(pick).fold(0.0, f64::max)
    };
    let x = Axis::new(Scale::from_zero(of(|p| p.0)), "seconds since the start");
    let y = Axis::new(Scale::from_zero(of(|p| p.1) * ROOM), "transactions/s");
    let marked = lines.iter().any(|course| !course.spans.is_empty());
    Some(html! {
        p {
            "Each case in the round that is in the middle by transactions a second."
            @if marked { " Shaded: a WAL checkpoint of the server." }
        }
        @for (number, course) in lines.iter().enumerate() {
            figure {
                p.case { (course.line.name) }
                (Plot {
                    id: run.id(&format!("time{number}")),
                    title: &format!("transactions/s over time, {}", course.line.name),
                    about: "Transactions a second of each interval; spans of WAL checkpoints are shaded.",
                    x: &x,
                    y: &y,
                    series: std::slice::from_ref(&course.line),
                    spans: &course.spans,
                    height: 130,
                }.draw())
            }
        }
        (time_table(run, &lines))
        (wal_table(run, &lines))
    })
}

/// Transactions a second between two looks, at the end of each; looks that follow one
/// another at once are one.
fn rates(progress: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let longest = progress
        .windows(2)
        .map(|w| w[1].0.saturating_sub(w[0].0))
        .max();
    let shortest = longest.unwrap_or(0) / 10;
    let mut before = (0, 0);
    let mut points = Vec::with_capacity(progress.len());
    for (ns, transactions) in progress {
        let span = ns.saturating_sub(before.0);
        if span > shortest {
            let rate = transactions.saturating_sub(before.1) as f64 * 1e9 / span as f64;
            points.push((*ns as f64 / 1e9, rate));
            before = (*ns, *transactions);
        }
    }
    points
}

/// A rate holds from the end before to its own.
fn steps(rates: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut before = 0.0;
    let step = |(end, rate): &(f64, f64)| {
        let start = std::mem::replace(&mut before, *end);
        [(start, *rate), (*end, *rate)]
    };
    rates.iter().flat_map(step).collect()
}

fn spans(load: &LoadRecord) -> Vec<Span> {
    let end = load.wall_ns as f64 / 1e9;
    let all = load.wal_checkpoints.iter().flatten();
    all.map(|c| Span {
        from: c.started_s.max(0.0),
        to: c.ended_s.unwrap_or(end).min(end),
        title: format!(
            "WAL checkpoint ({}), from {} s to {}",
            c.reason,
            seconds(c.started_s),
            c.ended_s
                .map_or("after the end".to_string(), |s| format!("{} s", seconds(s)))
        ),
    })
    .collect()
}

fn time_table(run: &Run<'_>, lines: &[Course]) -> Markup {
    let caption = "transactions/s of each interval, by its end";
    let rows = lines
        .iter()
        .map(|course| course.rates.len())
        .max()
        .unwrap_or(0);
    let content = html! {
        thead { tr {
            th scope="col" { "interval" }
            @for course in lines { th scope="col" { (course.line.name) ", s" } th scope="col" { "tps" } }
        } }
        tbody {
            @for row in 0..rows {
                tr {
                    th scope="row" { (row + 1) }
                    @for course in lines {
                        @if let Some((x, y)) = course.rates.get(row) {
                            td { (seconds(*x)) } td { (rate(*y)) }
                        } @else { td {} td {} }
                    }
                }
            }
        }
    };
    html! {
        details open {
            summary { "Numbers over time" }
            div.tall { (run.budget.part(framed(caption, "", content), caption)) }
        }
    }
}

fn wal_table<'l>(run: &Run<'_>, lines: &'l [Course]) -> Markup {
    let caption = "WAL checkpoints of the server in those rounds";
    let of = |course: &'l Course| course.spans.iter().map(|span| (&course.line.name, span));
    let all = || lines.iter().flat_map(of);
    if all().next().is_none() {
        return html! {};
    }
    let content = html! {
        thead { tr { th scope="col" { "case" } th.w scope="col" { "WAL checkpoint" } } }
        tbody {
            @for (name, span) in all() {
                tr { th scope="row" { (name) } td.w { (span.title) } }
            }
        }
    };
    html! {
        details open {
            summary { "WAL checkpoints" }
            div.tall { (run.budget.part(framed(caption, "", content), caption)) }
        }
    }
}

/// Latency by percentile, all rounds of a case together.
fn latency(run: &Run<'_>, cases: &[Case<'_>]) -> Option<Markup> {
    let all: Vec<(&Case<'_>, Histogram<u64>)> = cases
        .iter()
        .filter_map(|case| Some((case, together(case.loads().map(|load| &load.latency))?)))
        .collect();
    let series: Vec<Series> = all
        .iter()
        .map(|(case, histogram)| case.series(curve(histogram), false))
        .collect();
    let (low, high) = (lowest(&series, |p| p.1), highest(&series, |p| p.1));
    if series.is_empty() {
        return None;
    }
    let last = highest(&series, |p| p.0);
    let percentiles = Axis {
        scale: Scale::log(1.0, last.max(100.0)),
        label: "percentile",
        show: |x| percentile(1.0 - 1.0 / x),
    };
    let plot = Plot {
        id: run.id("latency"),
        title: "latency by percentile",
        about: "Latency of committed transactions, all rounds together; the numbers are in the \
                table behind it.",
        x: &percentiles,
        y: &Axis::new(Scale::log(low, high), "latency, ms"),
        series: &series,
        spans: &[],
        height: 280,
    };
    Some(html! {
        figure {
            (legend(&series))
            (plot.draw())
            figcaption { "So many per cent of the transactions took no longer; both axes are logarithmic, the lower one by what is left, so that rare slow ones can be seen. All rounds of a case together." }
        }
        (latency_table(run, &all))
    })
}

const QUANTILES: [f64; 10] = [0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999, 1.0];

fn latency_table(run: &Run<'_>, all: &[(&Case<'_>, Histogram<u64>)]) -> Markup {
    let content = html! {
        thead { tr {
            th scope="col" { "percentile" }
            @for (case, _) in all { th scope="col" { (case.name) } }
        } }
        tbody {
            @for quantile in QUANTILES {
                tr {
                    th scope="row" { (percentile(quantile)) }
                    @for (_, histogram) in all {
                        td { (ms(histogram.value_at_quantile(quantile) as f64 / 1e6)) }
                    }
                }
            }
            tr {
                th scope="row" { "transactions" }
                @for (_, histogram) in all { td { (histogram.len()) } }
            }
        }
    };
    let caption = "latency, ms, all rounds together";
    run.budget.part(framed(caption, "", content), caption)
}

/// `99.9 %`, without digits that say nothing.
fn percentile(quantile: f64) -> String {
    format!("{} %", tick((quantile * 100.0 * 1e6).round() / 1e6))
}

/// The histograms of several rounds as one; `None` where none can be read.
fn together<'l>(records: impl Iterator<Item = &'l LatencyRecord>) -> Option<Histogram<u64>> {
    let mut sum: Option<Histogram<u64>> = None;
    for record in records {
        let bytes = STANDARD.decode(&record.hdr).ok()?;
        let one: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .ok()?;
        match &mut sum {
            None => sum = Some(one),
            Some(sum) => sum.add(one).ok()?,
        }
    }
    sum.filter(|histogram| !histogram.is_empty())
}

/// Latency in ms by 1 / (1 - quantile), eight points a decade, up to the slowest.
fn curve(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    let last = histogram.len() as f64;
    let places = (0..).map(|n| 10f64.powf(f64::from(n) / 8.0));
    let mut points: Vec<(f64, f64)> = places
        .take_while(|x| *x < last)
        .map(|x| {
            (
                x,
                histogram.value_at_quantile(1.0 - 1.0 / x).max(1) as f64 / 1e6,
            )
        })
        .collect();
    points.push((last, histogram.max() as f64 / 1e6));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_intervals() {
        let progress = [
            (1_000_000_000, 100),
            (3_000_000_000, 500),
            (3_000_000_000, 500),
        ];
        assert_eq!(rates(&progress), [(1.0, 100.0), (3.0, 200.0)]);
    }

    #[test]
    fn a_curve_rises_to_the_slowest() {
        let mut histogram: Histogram<u64> = Histogram::new(3).unwrap();
        (1..=10_000u64).for_each(|n| histogram.record(n * 1000).unwrap());
        let points = curve(&histogram);
        assert!(
            points
                .windows(2)
                .all(|w| w[0].0 < w[1].0 && w[0].1 <= w[1].1)
        );
        assert_eq!(points.first().unwrap().0, 1.0);
        assert_eq!(points.last().unwrap().0, 10_000.0);
        assert!((points.last().unwrap().1 - 10.0).abs() < 0.02);
    }

    #[test]
    fn percentiles_have_no_idle_digits() {
        assert_eq!(percentile(0.5), "50 %");
        assert_eq!(percentile(1.0 - 1.0 / 1000.0), "99.9 %");
        assert_eq!(percentile(0.9999), "99.99 %");
        assert_eq!(percentile(1.0), "100 %");
    }
}
