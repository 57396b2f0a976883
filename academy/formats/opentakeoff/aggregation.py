"""The result of a whole run in both modes, from the stored scores of its records."""

from __future__ import annotations

from collections.abc import Sequence

from academy.bundle import ResultSpec, ScoredRecord
from academy.formats.base import AggregateContext
from academy.formats.opentakeoff.reference_result import reference_result
from academy.formats.opentakeoff.strict_result import strict_results
from academy.scorers.base import Mode


def aggregate(scores: Sequence[ScoredRecord], context: AggregateContext) -> tuple[ResultSpec, ...]:
    """Reference: the one number of the original. Strict: one result per metric and competency.

    Bars, baselines and windows come from `context.facts` alone, never from the upload; of that only
    the order of the bundle is asked. Without facts the numbers are those of a first run.
    """
    if context.mode is Mode.REFERENCE:
        options = {**context.facts, "order": context.attributes.get("order")}
        return (reference_result(scores, context.suite, options),)
    return strict_results(scores, context.suite, context.facts)
