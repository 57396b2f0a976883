"""Interleaved rounds, and rows that compare: a target is met only if the median meets it."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Variant = Callable[[], object]
ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: seconds per call and round of ours and of a floor or peer.

    `most` is the largest ratio ours / other that is good enough, `least` the smallest other / ours;
    a row without either is told and judged by nobody. `seconds` is an absolute target of ours.
    """

    name: str
    ours: tuple[float, ...]
    other: tuple[float, ...] = ()
    against: str = ""
    most: float | None = None
    least: float | None = None
    seconds: float | None = None
    note: str = ""

    @property
    def ratios(self) -> list[float]:
        """The ratio of each round, in the sense of the target."""
        pairs = zip(self.ours, self.other, strict=True) if self.other else ()
        turned = self.least is not None
        return [theirs / ours if turned else ours / theirs for ours, theirs in pairs]

    @property
    def ratio(self) -> float | None:
        """The median ratio."""
        return statistics.median(self.ratios) if self.other else None

    @property
    def met(self) -> bool | None:
        """Whether the median meets the target; None where there is none."""
        if self.seconds is not None and not self.other:
            return statistics.median(self.ours) <= self.seconds
        if self.ratio is None or (self.most is None and self.least is None):
            return None
        return self.ratio <= self.most if self.most is not None else self.ratio >= (self.least or 0)

    def as_json(self) -> dict[str, Any]:
        """The row as plain values, times in milliseconds."""
        found = self.ratios
        return {
            "name": self.name,
            "against": self.against,
            "ours_ms": round(statistics.median(self.ours) * 1e3, 4),
            "other_ms": round(statistics.median(self.other) * 1e3, 4) if self.other else None,
            "ratio": None if self.ratio is None else round(self.ratio, 3),
            "ratio_low": round(min(found), 3) if found else None,
            "ratio_high": round(max(found), 3) if found else None,
            "target": self.target,
            "met": self.met,
            "note": self.note,
        }

    @property
    def target(self) -> str:
        """The target in words."""
        if self.most is not None:
            return f"at most {self.most:g} times"
        if self.least is not None:
            return f"at least {self.least:g} times faster"
        return f"at most {self.seconds * 1e3:g} ms" if self.seconds is not None else ""


@dataclass(slots=True)
class Report:
    """The rows of a benchmark and the facts of the machine and data they are about."""

    name: str
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "name": self.name,
            "facts": self.facts,
            "rows": [row.as_json() for row in self.rows],
        }


def lines(report: Mapping[str, Any]) -> list[str]:
    """A report as a table, from its plain values."""
    told = [f"{name}: {value}" for name, value in report["facts"].items()]
    head = ("what", "ours", "against", "theirs", "ratio (spread)", "target", "")
    body = [_cells(row) for row in report["rows"]]
    widths = [max(len(line[place]) for line in [head, *body]) for place in range(len(head))]
    table = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in [head, *body]
    ]
    notes = [f"* {row['name']}: {row['note']}" for row in report["rows"] if row["note"]]
    return [report["name"], *told, "", *table, *notes, ""]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    ratio = ""
    if row["ratio"] is not None:
        ratio = f"{row['ratio']:.3g} ({row['ratio_low']:.3g}–{row['ratio_high']:.3g})"
    other = "" if row["other_ms"] is None else f"{row['other_ms']:.3f} ms"
    met = {True: "met", False: "MISSED", None: ""}[row["met"]]
    ours = f"{row['ours_ms']:.3f} ms"
    return (row["name"], ours, row["against"], other, ratio, row["target"], met)


def interleaved(
    variants: Mapping[str, Variant], calls: Mapping[str, int] | int = 1, rounds: int = ROUNDS
) -> dict[str, tuple[float, ...]]:
    """Seconds per call of each variant in each round; the order turns from round to round.

    Each is called once beforehand, so that nothing is measured cold.
    """
    names = list(variants)
    number = dict.fromkeys(names, calls) if isinstance(calls, int) else dict(calls)
    for variant in variants.values():
        variant()
    found: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        for place in range(len(names)):
            name = names[(place + turn) % len(names)]
            found[name].append(seconds_of(variants[name], number.get(name, 1)))
    return {name: tuple(times) for name, times in found.items()}


def seconds_of(variant: Variant, calls: int) -> float:
    """The median seconds of some calls, without the collector coming in between."""
    gc.collect()
    gc.disable()
    try:
        times = []
        for _ in range(calls):
            start = time.perf_counter()
            variant()
            times.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return statistics.median(times)


def percentile(times: Sequence[float], share: float) -> float:
    """The least time that this share of the times does not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
