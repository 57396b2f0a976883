"""A scored run of any format as a pair of this one."""

from __future__ import annotations

from collections.abc import Mapping

from academy.formats.base import ScoredRun
from academy.formats.every_eval_ever.export import Publisher, export_pair


def export_scores(scored: ScoredRun) -> Mapping[str, bytes]:
    """Aggregate and rows of a run, under the paths of the original's datastore."""
    publisher = Publisher(
        retrieved_at=f"{scored.at.timestamp():.0f}",
        mode=str(scored.mode),
        references=scored.references,
        details=scored.details,
    )
    pair = export_pair(
        scored.suite,
        scored.run,
        scored.records,
        scored.scores,
        view=scored.view,
        publisher=publisher,
        results=scored.results,
    )
    return pair.files()
