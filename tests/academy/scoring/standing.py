"""What scoring made of a run, and people who decide."""

from __future__ import annotations

from typing import Any

from academy import deciding
from academy.deciding import Verdict
from academy.models import Criterion, InstanceRecord, Run, RunResult, RunVector, Score, Summary

Values = list[tuple[Any, ...]]


def scores_of(run: Run, *, mode: str = "strict") -> Values:
    """What stands of a run's scores, in order."""
    return list(
        Score.objects.filter(record__run=run, current=True, mode=mode)
        .order_by("record_id", "metric__ordinal")
        .values_list("record__task__external_id", "metric__key", "status", "value", "passed")
    )


def results_of(run: Run) -> dict[tuple[str, str], tuple[Any, ...]]:
    """The results over all tasks by metric and mode."""
    rows = RunResult.objects.filter(run=run, slice="", origin="computed")
    return {
        (row.metric.key, row.mode): (row.value, row.n, row.waiting, row.missing, row.unscorable)
        for row in rows.select_related("metric")
    }


def everything(run: Run) -> list[Any]:
    """All that scoring makes of a run, without ids and times."""
    vectors = RunVector.objects.filter(run=run).order_by("metric__ordinal", "mode")
    results = RunResult.objects.filter(run=run).order_by("metric__ordinal", "mode", "slice")
    return [
        scores_of(run),
        scores_of(run, mode="reference"),
        [(bytes(row.values), bytes(row.states)) for row in vectors],
        list(results.values_list("mode", "slice", "value", "low", "high", "n", "note", "details")),
        list(
            Summary.objects.filter(run=run).values_list(
                "records", "scored", "waiting", "unscorable", "missing", "digest"
            )
        ),
    ]


def record_of(run: Run, task_id: str) -> InstanceRecord:
    """The record of one task."""
    return InstanceRecord.objects.select_related("task").get(run=run, task__external_id=task_id)


def criterion_of(record: InstanceRecord, key: str) -> Criterion:
    """A criterion of the record's task."""
    return Criterion.objects.get(task=record.task, key=key)


def decide(record: InstanceRecord, person: Any, **verdicts: bool) -> None:
    """A person says of criteria, by key, whether they are met."""
    deciding.record_decisions(
        record,
        [Verdict(criterion=criterion_of(record, key), value=met) for key, met in verdicts.items()],
        source="person",
        person=person,
    )
