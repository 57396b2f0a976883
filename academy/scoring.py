"""Records are scored in units of work, and runs summed up when their last unit is done."""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import Q

from academy import registry, specs, summing, work
from academy.bundle import FindingSpec, RecordView, TaskSpec
from academy.effective import Decided, Evidence, EvidencePolicy, effective
from academy.errors import AcademyError
from academy.findings import record_findings
from academy.models import (
    Decision,
    InstanceRecord,
    Metric,
    ReportedScore,
    Run,
    ScoringPass,
    Task,
)
from academy.packs import raw_record
from academy.scheduling import GATE_KINDS, owe_questions, owe_sum
from academy.scheduling import schedule_records as schedule_records
from academy.scorers.base import NO_DECISIONS, EffectiveValue, Mode, Verdict
from academy.storing import Scored, store_findings, store_scores

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What scoring a set of records needs of their version, read once."""

    scoring_pass: ScoringPass
    format: Any
    metrics: Mapping[str, Metric]
    tasks: Mapping[int, TaskSpec]
    policies: Mapping[Mode, EvidencePolicy]
    criteria: Mapping[tuple[int, str], int]
    struck: frozenset[int]


def score_unit(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "score": the verdicts on a range of records, and how they are stored."""
    run = Run.objects.select_related("version__suite").filter(pk=payload["run"]).first()
    chosen = ScoringPass.objects.filter(pk=payload["pass"]).first()
    if run is None or chosen is None:
        return _nothing_left
    records = list(
        InstanceRecord.objects.filter(id__gte=payload["first"], id__lte=payload["last"]).order_by(
            "id"
        )
    )
    if chosen.state == ScoringPass.State.RETIRED:
        return _nothing_left
    sheet = read_sheet(chosen, run, {record.task_id for record in records})
    refuse_other_versions(sheet)
    decisions = decisions_of(records)
    scored: list[Scored] = []
    raised: list[tuple[int, FindingSpec]] = []
    asks = run.kind not in GATE_KINDS
    canaries = canaries_of(run)
    form = registry.format_of(run.form)
    reported = reported_of(records)
    for record in records:
        task = sheet.tasks[record.task_id]
        view, error = open_or_tell(form, record, task, reported.get(record.pk, ()))
        if view is None:
            scored += unscorable(record, sheet, error)
            continue
        scored += verdicts_on(record, view, sheet, decisions.get(record.pk, {}))
        if asks:
            own = sheet.format.findings(view, task)
            general = record_findings(view, task, limits=run.version.limits, canaries=canaries)
            raised += [(record.pk, finding) for finding in (*own, *general)]

    def write() -> None:
        if is_retired(chosen):
            return
        locked = Run.objects.select_for_update(no_key=True).filter(pk=run.pk).first()
        if locked is None:
            return
        store_scores(chosen, scored)
        store_findings(run, [record.pk for record in records], raised)
        still = Q(kind="score", payload__pass=chosen.pk, state__in=("ready", "leased", "paused"))
        if not locked.work.filter(still).exclude(payload=dict(payload)).exists():
            owe_sum(run.pk, chosen.pk)

    return write


def is_retired(chosen: ScoringPass) -> bool:
    """Whether a pass has been retired by now; it stays as it is until the transaction ends.

    Many units of one pass are written at once, so that the lock is a shared one.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT state FROM academy_scoringpass WHERE id = %s FOR SHARE", [chosen.pk])
        row = cursor.fetchone()
    return row is None or row[0] == ScoringPass.State.RETIRED


def _nothing_left() -> None:
    """The run or pass is gone, so there is nothing to write."""


def aggregate_run(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "aggregate": the results of a run from its scores."""
    run = Run.objects.select_related("version__suite").filter(pk=payload["run"]).first()
    chosen = ScoringPass.objects.filter(pk=payload["pass"]).first()
    if run is None or chosen is None or chosen.state == ScoringPass.State.RETIRED:
        return _nothing_left
    summed = summing.sum_up(run, chosen)

    def write() -> None:
        if is_retired(chosen):
            return
        summing.store(summed)
        owe_questions(run, chosen)
        work.version_changed(run.version_id)

    return write


def canaries_of(run: Run) -> list[str]:
    """The marks of a version that show up in a record only if its files leaked."""
    held = run.version.attributes.get("canaries", run.version.attributes.get("canary", ()))
    return [held] if isinstance(held, str) else [mark for mark in held if isinstance(mark, str)]


def open_or_tell(
    form: Any, record: InstanceRecord, task: TaskSpec, reported: Iterable[ReportedScore] = ()
) -> tuple[RecordView | None, str]:
    """A record as scorers see it, or None and what went wrong: one damaged record must not keep
    the others from being scored. Faults of the database are no fault of the record."""
    try:
        return open_view(form, record, task, reported), ""
    except DatabaseError:
        raise
    except Exception as error:
        error_id = uuid.uuid4().hex[:12]
        logger.exception("error %s while opening record %s", error_id, record.pk)
        return None, f"error {error_id} while opening the record: {type(error).__name__}"


def unscorable(record: InstanceRecord, sheet: Sheet, reason: str) -> list[Scored]:
    """A record that no scorer can look at, in all modes of its gradings."""
    return [
        Scored(
            record.pk,
            sheet.metrics[grading.metric],
            mode,
            scorer.key,
            scorer.version,
            Verdict.unscorable(reason),
        )
        for mode in Mode
        for grading in sheet.tasks[record.task_id].gradings
        if (scorer := registry.scorer_of(grading.scorer, mode))
    ]


def reported_of(records: Sequence[InstanceRecord]) -> dict[int, list[ReportedScore]]:
    """The scores that came with some records."""
    found: dict[int, list[ReportedScore]] = defaultdict(list)
    for row in ReportedScore.objects.filter(
        record_id__in=[record.pk for record in records]
    ).order_by("pk"):
        found[row.record_id].append(row)
    return found


def open_view(
    form: Any, record: InstanceRecord, task: TaskSpec, reported: Iterable[ReportedScore] = ()
) -> RecordView:
    """A stored record as scorers see it, by the format in which it came.

    Scores that came with the record are added by metric, and what they call correct stands in
    the evidence: one piece of an upload need not know how the whole names its metrics.
    """
    view: RecordView = form.view(raw_record(record), task)
    rows = list(reported)
    if not rows:
        return view
    evidence = view.evidence if isinstance(view.evidence, Mapping) else {}
    correct = {row.metric: row.correct for row in rows if row.correct is not None}
    return replace(
        view,
        reported={**view.reported, **{row.metric: row.value for row in rows}},
        evidence={**evidence, "correct": correct} if correct else view.evidence,
    )


def read_sheet(chosen: ScoringPass, run: Run, task_ids: Iterable[int]) -> Sheet:
    """Tasks with their keys in the pass's revisions, metrics and evidence policies."""
    rows = list(Task.objects.filter(pk__in=task_ids).prefetch_related("criteria", "assets"))
    keys = specs.keys_in(chosen, task_ids=[row.pk for row in rows])
    return Sheet(
        scoring_pass=chosen,
        format=registry.format_of(run.version.suite.format),
        metrics={metric.key: metric for metric in run.version.metrics.all()},
        tasks={
            row.pk: specs.task_spec(
                row, sorted(row.criteria.all(), key=lambda held: held.ordinal), keys.get(row.pk)
            )
            for row in rows
        },
        policies={mode: policy_of(chosen, mode) for mode in Mode},
        criteria={
            (row.pk, criterion.key): criterion.pk
            for row in rows
            for criterion in row.criteria.all()
        },
        struck=frozenset(chosen.struck),
    )


def policy_of(chosen: ScoringPass, mode: Mode) -> EvidencePolicy:
    """Whose word counts in a mode of a pass."""
    stored = chosen.evidence.get(str(mode), {"kind": "people"})
    return EvidencePolicy(
        kind=Evidence(stored["kind"]),
        judge=stored.get("judge", ""),
        version=stored.get("version", ""),
    )


def decisions_of(
    records: Sequence[InstanceRecord],
) -> dict[int, dict[str, tuple[int, list[Decided]]]]:
    """Current decisions by record and criterion key, as plain values."""
    found: dict[int, dict[str, tuple[int, list[Decided]]]] = defaultdict(dict)
    rows = (
        Decision.objects.filter(record_id__in=[record.pk for record in records], current=True)
        .select_related("criterion")
        .order_by("pk")
    )
    for row in rows:
        if row.record_id is not None and row.criterion is not None:
            held = found[row.record_id].setdefault(row.criterion.key, (row.criterion.pk, []))
            held[1].append(decided(row))
    return found


def decided(row: Decision) -> Decided:
    """A stored decision as a plain value."""
    return Decided(
        source=row.source,
        state=row.state,
        value=row.value,
        author=f"person:{row.person_id}" if row.person_id else row.author,
        version=row.author_version,
        digest=row.author_digest,
        order=row.pk,
        superseded=not row.current,
        counts=row.counts,
        reason=row.reason,
    )


def effective_values(
    task: TaskSpec,
    held: Mapping[str, tuple[int, list[Decided]]],
    policy: EvidencePolicy,
    struck: Container[str],
) -> dict[str, EffectiveValue]:
    """What stands for every criterion of a task under a policy; `struck` names criteria by key."""
    return {
        criterion.key: effective(
            held.get(criterion.key, (0, ()))[1], policy, struck=criterion.key in struck
        )
        for criterion in task.criteria
    }


def verdicts_on(
    record: InstanceRecord,
    view: RecordView,
    sheet: Sheet,
    held: Mapping[str, tuple[int, list[Decided]]],
) -> list[Scored]:
    """Every verdict on one record, in all modes of its gradings."""
    task = sheet.tasks[record.task_id]
    struck = {
        criterion.key
        for criterion in task.criteria
        if sheet.criteria[record.task_id, criterion.key] in sheet.struck
    }
    scored = []
    for mode in Mode:
        values: Mapping[str, EffectiveValue] = NO_DECISIONS
        if task.criteria:
            values = effective_values(task, held, sheet.policies[mode], struck)
        for grading in task.gradings:
            scorer = registry.scorer_of(grading.scorer, mode)
            if scorer is None:
                continue
            try:
                verdict = scorer.score(view, task.key, values, grading.params)
            except Exception as error:
                error_id = uuid.uuid4().hex[:12]
                logger.exception("scorer error %s on record %s", error_id, record.pk)
                verdict = Verdict.unscorable(f"scorer error {error_id}: {type(error).__name__}")
            scored.append(
                Scored(
                    record.pk,
                    sheet.metrics[grading.metric],
                    mode,
                    scorer.key,
                    scorer.version,
                    verdict,
                )
            )
    return scored


def refuse_other_versions(sheet: Sheet) -> None:
    """Raise AcademyError when a pass was made with another version of a scorer than is installed:
    scores of two versions must not stand side by side in one pass."""
    named = {grading.scorer for task in sheet.tasks.values() for grading in task.gradings}
    held = sheet.scoring_pass.scorers
    for key in sorted(named):
        for mode in Mode:
            scorer = registry.scorer_of(key, mode)
            made_with = held.get(f"{key}/{mode}")
            if scorer is not None and made_with not in (None, scorer.version):
                raise AcademyError(
                    f"Pass {sheet.scoring_pass.number} was made with version {made_with} of the "
                    f"scorer {key}, and version {scorer.version} is installed. What is new is "
                    "scored in the next pass."
                )
