//! Lines over an axis, drawn so that their text keeps its size on a narrow window: places
//! are per cent of the drawing, and only the lines themselves are stretched.

use maud::{Markup, html};

use super::scale::{Scale, percent, tick};

/// How many lines one chart takes.
pub(super) const MOST: usize = 12;

/// Points of a line at most: no screen shows more.
const POINTS: usize = 240;

/// One line.
pub(super) struct Series {
    /// Its name, with the marks of its case.
    pub name: String,
    /// The number of its colour.
    pub color: usize,
    /// In the order of x.
    pub points: Vec<(f64, f64)>,
    /// Whether each point is worth a dot.
    pub dots: bool,
}

/// A span of x that something went on in.
pub(super) struct Span {
    pub from: f64,
    pub to: f64,
    /// What it was.
    pub title: String,
}

/// An axis.
pub(super) struct Axis {
    pub scale: Scale,
    pub label: &'static str,
    /// A tick in words.
    pub show: fn(f64) -> String,
}

impl Axis {
    /// With plain numbers.
    pub fn new(scale: Scale, label: &'static str) -> Self {
        Axis {
            scale,
            label,
            show: tick,
        }
    }
}

/// A chart.
pub(super) struct Plot<'p> {
    /// Unique on the page.
    pub id: String,
    pub title: &'p str,
    /// What it shows, for those who do not see it.
    pub about: &'p str,
    pub x: &'p Axis,
    pub y: &'p Axis,
    pub series: &'p [Series],
    pub spans: &'p [Span],
    /// CSS pixels.
    pub height: u32,
}

/// Units of the stretched drawing.
const UNITS: f64 = 1000.0;

impl Plot<'_> {
    pub fn draw(&self) -> Markup {
        let (title, about) = (format!("{}-t", self.id), format!("{}-d", self.id));
        html! {
            p.ylabel aria-hidden="true" { (self.y.label) }
            div.plot {
                svg role="img" aria-labelledby=(format!("{title} {about}")) width="100%" height=(self.height) {
                    title id=(title) { (self.title) }
                    desc id=(about) { (self.about) }
                    @for span in self.spans { (self.span(span)) }
                    (self.grid())
                    svg width="100%" height="100%" viewBox=(format!("0 0 {UNITS} {UNITS}")) preserveAspectRatio="none" {
                        @for series in self.series { (self.line(series)) }
                    }
                }
            }
            p.xlabel aria-hidden="true" { (self.x.label) }
        }
    }

    fn grid(&self) -> Markup {
        let below = |place: f64| percent(1.0 - place);
        let end = |place: f64| if place > 0.95 { "end" } else { "middle" };
        html! {
            @for value in self.y.scale.ticks() {
                @let y = below(self.y.scale.at(*value));
                line.grid x1="0" x2="100%" y1=(y) y2=(y) {}
                text.y x="0" y=(y) dx="-6" dy="4" { ((self.y.show)(*value)) }
            }
            @for value in self.x.scale.ticks() {
                @let place = self.x.scale.at(*value);
                line.tick x1=(percent(place)) x2=(percent(place)) y1="100%" y2="98%" {}
                text.x x=(percent(place)) y="100%" dy="16" text-anchor=(end(place)) { ((self.x.show)(*value)) }
            }
            line.axis x1="0" x2="100%" y1="100%" y2="100%" {}
        }
    }

    fn span(&self, span: &Span) -> Markup {
        let (from, to) = (self.x.scale.at(span.from), self.x.scale.at(span.to));
        // Too short a one would not be seen.
        let width = (to - from).max(0.003);
        html! {
            rect.span x=(percent(from)) width=(percent(width)) y="0" height="100%" { title { (span.title) } }
        }
    }

    fn line(&self, series: &Series) -> Markup {
        let place = |(x, y): &(f64, f64)| {
            let (x, y) = (
                self.x.scale.at(*x) * UNITS,
                (1.0 - self.y.scale.at(*y)) * UNITS,
            );
            format!("{x:.0} {y:.0}")
        };
        let points = thinned(&series.points);
        let line: Vec<String> = points.iter().map(place).collect();
        let class = format!("line {}", color(series.color));
        let dots: String = line.iter().map(|p| format!("M{p}h0")).collect();
        html! {
            @if line.len() > 1 { path class=(class) d=(format!("M{}", line.join("L"))) {} }
            @if series.dots || line.len() == 1 {
                path class=(format!("dots {}", color(series.color))) d=(dots) {}
            }
        }
    }
}

/// Means of neighbours, where there are more points than can be seen.
pub(super) fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let size = points.len().div_ceil(POINTS);
    let mean = |chunk: &[(f64, f64)]| {
        let n = chunk.len() as f64;
        let x = chunk.iter().map(|p| p.0).sum::<f64>() / n;
        (x, chunk.iter().map(|p| p.1).sum::<f64>() / n)
    };
    points.chunks(size).map(mean).collect()
}

/// The classes of a line or bar with that colour; from the ninth on lines are dashed.
pub(super) fn color(number: usize) -> String {
    match number / 8 {
        0 => format!("c{}", number % 8),
        _ => format!("c{} dash", number % 8),
    }
}

/// Who has which colour.
pub(super) fn legend(series: &[Series]) -> Markup {
    html! {
        ul.legend {
            @for series in series {
                li {
                    svg width="22" height="10" aria-hidden="true" {
                        line class=(format!("line {}", color(series.color))) x1="0" x2="22" y1="5" y2="5" {}
                    }
                    (series.name)
                }
            }
        }
    }
}
