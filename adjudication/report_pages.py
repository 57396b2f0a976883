"""What the pages of reports show: figures in words and as geometry, no rules of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.coefficients import ONE_CATEGORY
from academy.correction import ENOUGH_DOUBLE, JudgeErrors
from academy.intervals import Interval
from academy.judge_matrix import JudgeFigures
from adjudication import reporting
from adjudication.calibration import RECENT, GoldFigures
from adjudication.concordance import Agreement
from adjudication.figuring import QUESTIONS_A_PAGE, Counted
from adjudication.models import Queue
from adjudication.own_reporting import ITEMS_BEFORE_GOLD, OwnFigures
from adjudication.pace import Day, Times, pace_of
from adjudication.reporting import Report, Reviewer

Json = dict[str, Any]
SHARE_AXIS = {"low": 0.0, "high": 1.0, "scale": 100, "refs": []}
DRAWINGS = (("lg", 600, 150), ("sm", 330, 150))
LEFT, TOP, BOTTOM = 34, 12, 26
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
FIGURES = {
    "cohen": "κ",
    "cohen-quadratic": "weighted κ",
    "fleiss": "Fleiss’ κ",
    "ac1": "AC1",
    "ac2-quadratic": "AC2",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its interval, as text; `interval` for the drawing on an axis of shares."""

    text: str
    span: str
    note: str
    interval: Interval
    name: str = ""

    @property
    def is_special(self) -> bool:
        """Whether it is another than the plain figure that a column is named for."""
        return self.name not in ("", ALPHA, FIGURES["cohen"])

    @property
    def label(self) -> str:
        """The same in one sentence, for who cannot see the drawing."""
        told = f"{self.text}, interval {self.span}" if self.span else self.text
        return f"{told}, n = {self.interval.n}"


def share(interval: Interval) -> Figure:
    """A share as per cent."""
    return Figure(
        text=_words(interval, _percent, " %"),
        span=_span(interval, _percent),
        note=interval.note,
        interval=interval,
    )


def points(interval: Interval) -> Figure:
    """A difference of shares in percentage points, with its sign."""
    return Figure(
        text=_words(interval, _signed, ""),
        span=_span(interval, _signed),
        note=interval.note,
        interval=interval,
    )


def coefficient(interval: Interval | None) -> Figure | None:
    """A coefficient of agreement; None where it does not apply."""
    if interval is None:
        return None
    return Figure(
        text=_words(interval, _decimal, ""),
        span=_span(interval, _decimal),
        note=interval.note,
        interval=interval,
        name=FIGURES.get(interval.method, ALPHA),
    )


def _words(interval: Interval, write: Any, unit: str) -> str:
    if interval.point is not None:
        return f"{write(interval.point)}{unit}"
    return "undefined" if interval.note == ONE_CATEGORY else "–"


def _span(interval: Interval, write: Any) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f"{write(interval.low)} to {write(interval.high)}"


def percent(value: float | None) -> str:
    """A share as per cent on lists and among the facts of a page."""
    return "–" if value is None else f"{_percent(value)} %"


def _percent(value: float) -> str:
    return f"{value * 100:.1f}"


def _signed(value: float) -> str:
    return f"{value * 100:+.1f}".replace("-", "−")


def _decimal(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def agreement_row(agreement: Agreement) -> Json:
    """One row of a table of agreement; without a report there were not two comparable answers."""
    report = agreement.report
    row: Json = {"label": agreement.label, "n": agreement.n, "left_out": agreement.left_out}
    if report is None:
        return row
    most = max(report.prevalence, key=lambda one: one.count, default=None)
    kappas = (report.weighted_kappa, report.kappa, report.fleiss)
    return {
        **row,
        "percent": share(report.percent),
        "alpha": coefficient(report.alpha),
        "kappa": coefficient(next((one for one in kappas if one is not None), None)),
        "ac": coefficient(report.ac2 or report.ac1),
        "most": most,
        "most_share": "" if most is None or most.share is None else f"{most.share * 100:.0f} %",
        "notes": report.notes,
        "is_too_few": report.is_too_few,
    }


def gold_row(figures: GoldFigures) -> Json:
    """The gold items of one person."""
    return {
        "n": figures.n,
        "accuracy": share(figures.accuracy),
        "recent": share(figures.recent),
        "before": share(figures.before),
        "drift": points(figures.drift),
        "word": figures.word,
    }


def reviewer_row(reviewer: Reviewer) -> Json:
    """One person's row."""
    return {
        "name": reviewer.name,
        "is_reader": reviewer.is_reader,
        "work": reviewer.work,
        "times": times_row(reviewer.work.times),
        "gold": gold_row(reviewer.gold),
    }


def times_row(times: Times) -> Json:
    """A time in milliseconds, as the filter of times takes it."""
    return {
        "n": times.n,
        "breaks": times.breaks,
        **{
            name: None if seconds is None else seconds * 1000
            for name, seconds in (
                ("lower", times.lower),
                ("median", times.median),
                ("upper", times.upper),
            )
        },
    }


def judge_row(figures: JudgeFigures) -> Json:
    """One judge: the matrix with its names, the errors and rates by entrant and pooled."""
    report = figures.report
    matrix = figures.matrix
    equal = report.equal
    return {
        "judge": figures.judge,
        "figures": figures,
        "scale": matrix.scale,
        "matrix": list(zip(matrix.scale, matrix.counts, strict=True)),
        "entrants": [
            rate_row(name, report.errors[name], report.rates[name]) for name in report.errors
        ],
        "pooled": rate_row("All entrants", report.pooled_errors, report.pooled_rate),
        "equal_p": "" if equal.p is None else _decimal(equal.p),
        "equal": equal,
        "is_unequal": equal.p is not None and equal.p < 0.05,
    }


def rate_row(name: str, errors: JudgeErrors, rate: Interval) -> Json:
    """One entrant's part of a judge's figures."""
    return {
        "name": name,
        "errors": errors,
        "checked": errors.sensitivity.n + errors.specificity.n,
        "sensitivity": share(errors.sensitivity),
        "specificity": share(errors.specificity),
        "rate": share(rate),
    }


def day_drawings(days: Sequence[Day]) -> list[Json]:
    """Bars of each day, wide and narrow; none where nothing was handed in."""
    most = max((day.submitted for day in days), default=0)
    return [_bars(days, most, *frame) for frame in DRAWINGS] if most else []


def _bars(days: Sequence[Day], most: int, name: str, width: int, height: int) -> Json:
    room, floor = height - TOP - BOTTOM, height - BOTTOM
    step = (width - LEFT) / len(days)
    bars = []
    for place, day in enumerate(days):
        tall = round(room * day.submitted / most, 1)
        bars.append(
            {
                "x": round(LEFT + place * step + step * 0.15, 1),
                "y": round(floor - tall, 1),
                "width": round(step * 0.7, 1),
                "height": tall,
                "day": day,
            }
        )
    middle = len(days) // 2
    return {
        "name": name,
        "width": width,
        "height": height,
        "left": LEFT,
        "top": TOP,
        "floor": floor,
        "under": height - 8,
        "most": most,
        "bars": bars,
        "ends": [
            {"x": LEFT, "anchor": "", "date": days[0].date},
            {"x": LEFT + middle * step, "anchor": "mid", "date": days[middle].date},
            {"x": width, "anchor": "e", "date": days[-1].date},
        ],
    }


def report_context(report: Report, page: int) -> Json:
    """The page of a whole report."""
    return {
        **figures_context(report.queue, report.counted, page),
        "report": report,
        "progress": report.progress,
        "pace": round(pace_of(report.days), 1),
        "times": times_row(report.times),
        "drawings": day_drawings(report.days),
        "busy_days": [day for day in reversed(report.days) if day.submitted or day.resolved],
        "reviewers": [reviewer_row(one) for one in report.reviewers],
        "has_gold": any(one.gold.n for one in report.reviewers),
        "recent": RECENT,
        "before_gold": ITEMS_BEFORE_GOLD,
    }


def figures_context(queue: Queue, counted: Counted, page: int) -> Json:
    """Agreement and judges; while they are counted, what was counted last, if anything."""
    figures = counted.figures
    known: Json = {
        "queue": queue,
        "figures": figures,
        "is_counting": counted.is_counting,
        "page_number": page,
        "axis": SHARE_AXIS,
        "enough": ENOUGH_DOUBLE,
    }
    if figures is None:
        return known
    pages = max(1, -(-figures.questions // QUESTIONS_A_PAGE))
    return {
        **known,
        "equal": percent(figures.equal),
        "pooled": [agreement_row(one) for one in figures.pooled],
        "agreements": [agreement_row(one) for one in figures.agreements],
        "first": (page - 1) * QUESTIONS_A_PAGE + 1,
        "last": (page - 1) * QUESTIONS_A_PAGE + len(figures.agreements),
        "previous": page - 1 if page > 1 else None,
        "next": page + 1 if page < pages else None,
        "judges": [judge_row(one) for one in figures.judges],
    }


def own_context(queue: Queue, user: Any, page: int) -> Json:
    """The page of somebody's own figures in a queue."""
    return {
        "queue": queue,
        "own": own_row(reporting.own_figures(user, queue=queue)),
        "history": reporting.own_history(user, queue=queue, page=page),
        "axis": SHARE_AXIS,
        "recent": RECENT,
        "before_gold": ITEMS_BEFORE_GOLD,
    }


def own_row(figures: OwnFigures) -> Json:
    """One's own figures in words."""
    return {
        "figures": figures,
        "today": times_row(figures.today.times),
        "times": times_row(figures.times),
        "calibration": None if figures.calibration is None else gold_row(figures.calibration),
        "agreement": None if figures.agreement is None else share(figures.agreement),
    }


def page_number(query: Mapping[str, str]) -> int:
    """The page that an address names; 1 for anything else."""
    text = query.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 6 else 1
