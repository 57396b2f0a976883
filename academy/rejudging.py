"""What people say of records that a judge scored: the audit's side of a run's numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from academy import registry, scoring
from academy.effective import Evidence, EvidencePolicy
from academy.models import Decision, InstanceRecord, Metric, Run, Score, ScoringPass
from academy.scorers.base import Mode

BY_PEOPLE = EvidencePolicy(kind=Evidence.PEOPLE)


@dataclass(frozen=True, slots=True)
class JudgedRecord:
    """One record of a task that an audit touched: its stored value, and what people make of it.

    `person` is empty while people have not decided all that the metric needs; `probability` is the
    chance with which the record came to them, 1 where no lot was drawn.
    """

    task_id: int
    judge: float | None
    person: float | None
    probability: float | None


def audited_records(
    run: Run, chosen: ScoringPass, metric: Metric, mode: Mode
) -> dict[int, list[JudgedRecord]]:
    """By task, all records of the tasks of a run on which people decided something."""
    chances = _chances(run)
    if not chances:
        return {}
    tasks = set(InstanceRecord.objects.filter(pk__in=chances).values_list("task_id", flat=True))
    records = list(InstanceRecord.objects.of_run(run.pk).filter(task_id__in=tasks).order_by("id"))
    stored = dict(
        Score.objects.filter(
            record_id__in=[record.pk for record in records],
            scoring_pass=chosen,
            metric=metric,
            mode=str(mode),
            current=True,
        ).values_list("record_id", "value")
    )
    said = _values_of_people(
        run, chosen, metric, mode, [record for record in records if record.pk in chances]
    )
    found: dict[int, list[JudgedRecord]] = defaultdict(list)
    for record in records:
        person = said.get(record.pk)
        chance = None if person is None else chances[record.pk]
        found[record.task_id].append(
            JudgedRecord(record.task_id, stored.get(record.pk), person, chance)
        )
    return dict(found)


def _chances(run: Run) -> dict[int, float]:
    """Records of a run that people decided. One chosen for itself is in, whatever the lot said."""
    rows = Decision.objects.filter(
        record_id__gte=run.pk << 39,
        record_id__lt=(run.pk + 1) << 39,
        source__in=("person", "resolution"),
        current=True,
        counts=True,
    ).values_list("record_id", "probability")
    found: dict[int, float] = {}
    for record_id, probability in rows:
        chance = 1.0 if probability is None else probability
        found[record_id] = max(chance, found.get(record_id, 0.0))
    return found


def _values_of_people(
    run: Run,
    chosen: ScoringPass,
    metric: Metric,
    mode: Mode,
    records: Sequence[InstanceRecord],
) -> dict[int, float]:
    sheet = scoring.read_sheet(chosen, run, {record.task_id for record in records})
    by_people = replace(sheet, policies=dict.fromkeys(Mode, BY_PEOPLE))
    decisions = scoring.decisions_of(records)
    reported = scoring.reported_of(records)
    form = registry.format_of(run.form)
    values: dict[int, float] = {}
    for record in records:
        view = scoring.open_view(
            form, record, sheet.tasks[record.task_id], reported.get(record.pk, ())
        )
        for scored in scoring.verdicts_on(record, view, by_people, decisions.get(record.pk, {})):
            if scored.metric.pk == metric.pk and scored.mode is mode:
                value = scored.verdict.value
                if value is not None:
                    values[record.pk] = value
    return values
