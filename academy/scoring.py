"""Records are scored in units of work, and runs summed up when their last unit is done.

Nothing here sends messages: whoever owes the work asks for workers.
"""

from __future__ import annotations

import logging
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q

from academy import registry, specs, summing, work
from academy.bundle import FindingSpec, RecordView, TaskSpec
from academy.canonical import digest
from academy.effective import Decided, Evidence, EvidencePolicy, effective
from academy.models import (
    AnswerKey,
    Criterion,
    Decision,
    Finding,
    InstanceRecord,
    Metric,
    ReportedScore,
    Run,
    Score,
    ScoringPass,
    Task,
)
from academy.packs import raw_record
from academy.scorers.base import NO_DECISIONS, EffectiveValue, Mode, Verdict

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sheet:
    """What scoring a set of records needs of their version, read once."""

    scoring_pass: ScoringPass
    format: Any
    metrics: Mapping[str, Metric]
    tasks: Mapping[int, TaskSpec]
    policies: Mapping[Mode, EvidencePolicy]
    struck: frozenset[int]


@dataclass(frozen=True, slots=True)
class Scored:
    """One verdict on its way to a row."""

    record_id: int
    metric: Metric
    mode: Mode
    scorer: str
    scorer_version: int
    verdict: Verdict


def schedule_run(run: Run, *, scoring_pass: ScoringPass | None = None) -> int:
    """Owe the scoring of every record of a run, in units; gives how many units."""
    chosen = scoring_pass or run.version.passes.get(state="published")
    size = settings.ACADEMY_WORK_UNIT
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT min(id), max(id) FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) / %s"
            " AS unit FROM academy_instancerecord WHERE id >= %s AND id < %s) AS units"
            " GROUP BY unit ORDER BY unit",
            [size, run.pk << 39, (run.pk + 1) << 39],
        )
        units = cursor.fetchall()
    for number, (first, last) in enumerate(units):
        work.enqueue(
            "score",
            key=f"score:{chosen.pk}:{run.pk}:{number}",
            payload={"pass": chosen.pk, "run": run.pk, "first": first, "last": last},
            run_id=run.pk,
        )
    if not units:
        owe_sum(run.pk, chosen.pk)
    return len(units)


def schedule_records(run_id: int, record_ids: Sequence[int]) -> None:
    """Owe the scoring of single records in every pass that is not retired."""
    passes = ScoringPass.objects.filter(version__runs=run_id).exclude(state="retired")
    for pass_id in passes.values_list("pk", flat=True):
        for record_id in record_ids:
            work.enqueue(
                "score",
                key=f"score:{pass_id}:record:{record_id}",
                payload={
                    "pass": pass_id,
                    "run": run_id,
                    "first": record_id,
                    "last": record_id,
                },
                run_id=run_id,
                priority=-5,
            )


def owe_sum(run_id: int, pass_id: int) -> None:
    """Owe the summing up of a run in a pass."""
    work.enqueue(
        "aggregate",
        key=f"aggregate:{pass_id}:{run_id}",
        payload={"pass": pass_id, "run": run_id},
        run_id=run_id,
        priority=-1,
    )


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
    sheet = read_sheet(chosen, run, {record.task_id for record in records})
    decisions = decisions_of(records)
    scored: list[Scored] = []
    findings: list[tuple[int, FindingSpec]] = []
    form = registry.format_of(run.form)
    reported = reported_of(records)
    for record in records:
        task = sheet.tasks[record.task_id]
        view = open_view(form, record, task, reported.get(record.pk, ()))
        scored += verdicts_on(record, view, sheet, decisions.get(record.pk, {}))
        findings += [(record.pk, finding) for finding in sheet.format.findings(view, task)]

    def write() -> None:
        locked = Run.objects.select_for_update().filter(pk=run.pk).first()
        if locked is None:
            return
        store_scores(chosen, scored)
        store_findings(run, [record.pk for record in records], findings)
        still = Q(kind="score", payload__pass=chosen.pk, state__in=("ready", "leased", "paused"))
        if not locked.work.filter(still).exists():
            owe_sum(run.pk, chosen.pk)

    return write


def _nothing_left() -> None:
    """The run or pass is gone, so there is nothing to write."""


def aggregate_run(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "aggregate": the results of a run from its scores."""
    run = Run.objects.select_related("version__suite").filter(pk=payload["run"]).first()
    chosen = ScoringPass.objects.filter(pk=payload["pass"]).first()
    if run is None or chosen is None:
        return _nothing_left
    summed = summing.sum_up(run, chosen)

    def write() -> None:
        summing.store(summed)
        work.version_changed(run.version_id)

    return write


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
    rows = Task.objects.filter(pk__in=task_ids).prefetch_related("criteria", "assets")
    revisions = {int(task): revision for task, revision in chosen.key_revisions.items()}
    keys = {
        key.task_id: key
        for key in AnswerKey.objects.filter(task_id__in=task_ids)
        if revisions.get(key.task_id) == key.revision
    }
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
    struck: frozenset[int],
) -> dict[str, EffectiveValue]:
    """What stands for every criterion of a task under a policy."""
    values = {}
    for criterion in task.criteria:
        criterion_id, decisions = held.get(criterion.key, (0, []))
        values[criterion.key] = effective(decisions, policy, struck=criterion_id in struck)
    return values


def verdicts_on(
    record: InstanceRecord,
    view: RecordView,
    sheet: Sheet,
    held: Mapping[str, tuple[int, list[Decided]]],
) -> list[Scored]:
    """Every verdict on one record, in all modes of its gradings."""
    task = sheet.tasks[record.task_id]
    scored = []
    for mode in Mode:
        values: Mapping[str, EffectiveValue] = NO_DECISIONS
        if task.criteria:
            values = effective_values(task, held, sheet.policies[mode], sheet.struck)
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


def store_scores(chosen: ScoringPass, scored: Sequence[Scored]) -> int:
    """Store verdicts as current scores; what is already so stays as it is. Gives how many moved."""
    known = {
        (row.record_id, row.metric_id, row.mode): row
        for row in Score.objects.filter(
            record_id__in={item.record_id for item in scored}, scoring_pass=chosen, current=True
        )
    }
    outdated: list[int] = []
    fresh: list[Score] = []
    for item in scored:
        row = known.get((item.record_id, item.metric.pk, str(item.mode)))
        made = as_row(item, chosen, revision=row.revision + 1 if row else 1)
        if row is not None and is_same(row, made):
            continue
        if row is not None:
            outdated.append(row.pk)
        fresh.append(made)
    Score.objects.filter(pk__in=outdated).update(current=False)
    Score.objects.bulk_create(fresh, batch_size=2000)
    return len(fresh)


def as_row(item: Scored, chosen: ScoringPass, *, revision: int) -> Score:
    """A verdict as a row that is not stored yet."""
    verdict = item.verdict
    return Score(
        record_id=item.record_id,
        metric=item.metric,
        mode=str(item.mode),
        scoring_pass=chosen,
        revision=revision,
        scorer=item.scorer,
        scorer_version=item.scorer_version,
        status=str(verdict.status),
        value=verdict.value,
        credit=verdict.credit,
        passed=verdict.passed,
        measures=plain(verdict.measures),
        note=verdict.note[:500],
    )


def plain(value: Any) -> Any:
    """A JSON value of lists and dicts."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


SAME = ("scorer", "scorer_version", "status", "value", "credit", "passed", "measures")


def is_same(row: Score, made: Score) -> bool:
    """Whether a new verdict says what the stored one says; error ids in notes do not count."""
    return all(getattr(row, name) == getattr(made, name) for name in SAME)


def store_findings(
    run: Run, record_ids: Sequence[int], findings: Sequence[tuple[int, FindingSpec]]
) -> None:
    """Keep the findings of some records; open ones that are raised no more go."""
    raised = {(record_id, finding.code, finding.sentence) for record_id, finding in findings}
    for row in run.findings.filter(record_id__in=record_ids, state="open"):
        if (row.record_id, row.code, row.sentence) not in raised:
            row.delete()
    Finding.objects.bulk_create(
        [finding_row(run, record_id, finding) for record_id, finding in findings],
        ignore_conflicts=True,
    )


def finding_row(run: Run, record_id: int | None, finding: FindingSpec) -> Finding:
    """A finding as a row that is not stored yet."""
    return Finding(
        run=run,
        record_id=record_id,
        code=finding.code,
        sentence=finding.sentence,
        severity=finding.severity,
        steps=list(finding.steps),
        evidence=plain(finding.evidence),
    )


def criteria_by_key(task_id: int) -> dict[str, Criterion]:
    """The criteria of a task by key."""
    return {row.key: row for row in Criterion.objects.filter(task_id=task_id)}


def scores_digest(rows: Iterable[tuple[Any, ...]]) -> str:
    """A digest over effective scores, in the order given."""
    return digest([list(row) for row in rows])
