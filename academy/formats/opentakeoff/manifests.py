"""The suite manifest: bars and human baselines per competency, and the bar a run is held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from academy.bundle import JSON
from academy.formats.opentakeoff.metrics import METRIC_OF, METRICS

NOT_A_COMPETENCY = "contestant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """What a suite says of one competency; `baseline` is its human number, measured or not."""

    metric: str = ""
    apprentice: float | None = None
    journeyman: float | None = None
    baseline: float | None = None

    @property
    def reference_bar(self) -> float | None:
        """The original's bar: the apprentice number counts only where no journeyman one is."""
        return self.apprentice if self.journeyman is None else self.journeyman


@dataclass(frozen=True, slots=True)
class SuiteConfig:
    """The bar and the baseline that the original takes from a manifest; None is nothing."""

    threshold: float | None = None
    baseline: float | None = None
    competency: str | None = None


def mapping(value: JSON) -> Mapping[str, JSON]:
    """An object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def numeric(value: JSON) -> float | None:
    """A number, or None for anything else; a truth value is no number."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def thresholds_of(manifest: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Bars and baseline by competency, as a suite stores them.

    `baseline_of` names whose number the baseline is said to be. It is a published number, no
    recorded run, so strict mode gives no master tier for it.
    """
    bars, humans = mapping(manifest.get("thresholds")), mapping(manifest.get("baseline"))
    named = [*bars, *(name for name in humans if name != NOT_A_COMPETENCY and name not in bars)]
    stored: dict[str, JSON] = {}
    for name in named:
        bar, human = mapping(bars.get(name)), mapping(humans.get(name))
        row: dict[str, JSON] = {
            key: bar[key] for key in ("metric", "apprentice", "journeyman", "master") if key in bar
        }
        if "metric" not in row:
            row["metric"] = human.get("metric") or METRIC_OF.get(name, "")
        if numeric(human.get("score")) is not None:
            row["baseline"] = human["score"]
            row["baseline_of"] = humans.get(NOT_A_COMPETENCY) or ""
        stored[name] = row
    return stored


def bars_of(thresholds: Mapping[str, JSON], competency: str) -> Bars:
    """The stored bars of one competency; empty where the suite says nothing."""
    row = mapping(thresholds.get(competency))
    metric = row.get("metric")
    return Bars(
        metric=metric if isinstance(metric, str) and metric in METRICS else "",
        apprentice=numeric(row.get("apprentice")),
        journeyman=numeric(row.get("journeyman")),
        baseline=numeric(row.get("baseline")),
    )


def most_frequent(kinds: Iterable[str]) -> str | None:
    """The most frequent of the kinds, the first one among equals; blanks do not count."""
    counts = Counter(kind for kind in kinds if kind)
    return max(counts, key=lambda kind: counts[kind]) if counts else None


def suite_config(thresholds: Mapping[str, JSON], kinds: Iterable[str]) -> SuiteConfig:
    """The one bar and baseline by which the original judges a run over tasks of these kinds."""
    competency = most_frequent(kinds)
    if competency is None:
        return SuiteConfig()
    bars = bars_of(thresholds, competency)
    return SuiteConfig(bars.reference_bar, bars.baseline, competency)
