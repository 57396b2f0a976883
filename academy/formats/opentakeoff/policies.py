"""The boards that a suite proposes: one per track and competency."""

from __future__ import annotations

from academy.bundle import SuiteSpec
from academy.formats.base import BoardPolicy
from academy.formats.opentakeoff.metrics import METRICS
from academy.formats.opentakeoff.strict_result import competency_of, metric_of
from academy.scorers.base import Mode

LABELS = {
    "area-takeoff": "Area takeoff",
    "fixture-count": "Fixture count",
    "scale-calibration": "Scale calibration",
    "scope-identification": "Scope identification",
}


def board_policies(suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """A board for each competency and metric of the tasks, in the metric's own direction.

    Percentages of different things never share a board. Practice keys are public, so that
    practice runs are listed and never ranked.
    """
    pairs = {(competency_of(task), metric_of(task)) for task in suite.tasks}
    ordered = sorted(pairs, key=lambda pair: (list(METRICS).index(pair[1]), pair[0]))
    ranked = suite.mode == "ranked"
    return tuple(
        BoardPolicy(
            slug=f"{suite.slug}-{competency}"
            if sum(name == competency for name, _ in ordered) == 1
            else f"{suite.slug}-{competency}-{metric}",
            title=f"{suite.title}: {LABELS.get(competency, competency)}",
            metric=metric,
            mode=Mode.STRICT,
            where={"competency": competency},
            cluster="drawing",
            ranked=ranked,
            note=""
            if ranked
            else "The answer keys of a practice suite are public: runs are listed, not ranked.",
        )
        for competency, metric in ordered
    )
