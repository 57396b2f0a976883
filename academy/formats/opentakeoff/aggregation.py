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

    `context.attributes` may hold, beside what `reference_result` and `strict_results` name:
    nothing else; without any of it the numbers are those of a first, unproctored run.
    """
    if context.mode is Mode.REFERENCE:
        return (reference_result(scores, context.suite, context.attributes),)
    return strict_results(scores, context.suite, context.attributes)
