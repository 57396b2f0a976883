"""The boards that a data set gives: one for each metric, ranked by what was reported."""

from __future__ import annotations

from academy.bundle import SuiteSpec
from academy.formats.base import BoardPolicy
from academy.formats.every_eval_ever.metrics import slug_of

NOTE = (
    "Ranked by the number that each source reports, in the metric's own direction. The mean "
    "recomputed from rows stands beside it where rows came; entries without rows are listed as "
    "reported, and no tie groups are formed among them."
)


def board_policies(suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """One board for each metric of the data set."""
    return tuple(
        BoardPolicy(
            slug=slug_of(f"{suite.slug} {metric.key}"),
            title=f"{suite.title}: {metric.label}",
            metric=metric.key,
            origin="reported",
            coverage=0.0,
            note=NOTE,
        )
        for metric in suite.metrics
    )
