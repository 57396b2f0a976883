"""What the core's pages show: one context function per page region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from academy import foreign, pass_pages, rasterising, registry, sealing, specs, transcripts
from academy.bundle import RecordView
from academy.models import (
    Decision,
    InstanceRecord,
    Metric,
    Run,
    RunResult,
    Score,
    ScoringPass,
    Suite,
    SuiteVersion,
    Task,
    TaskAsset,
    Work,
    WorkerHeartbeat,
)
from academy.packs import raw_record
from academy.querysets import has_role

WORKER_SILENCE = 60
STEPS = 20


def workers_context() -> dict[str, Any]:
    """Whether a worker is alive, and since when none is."""
    newest = WorkerHeartbeat.objects.order_by("-seen_at").first()
    seen = newest.seen_at if newest else None
    silent = seen is None or (timezone.now() - seen).total_seconds() > WORKER_SILENCE
    owed = Work.objects.filter(state__in=("ready", "leased")).count()
    return {"workers": {"seen_at": seen, "is_silent": silent, "owed": owed}}


def suite_rows(suites: Iterable[Suite], user: Any) -> list[dict[str, Any]]:
    """Suites with their newest visible version."""
    rows = []
    for suite in suites:
        versions = [
            version
            for version in suite.versions.all()
            if version.state != SuiteVersion.State.DRAFT or has_role(user, "curator", "auditor")
        ]
        newest = max(versions, key=lambda version: version.pk, default=None)
        rows.append({"suite": suite, "version": newest, "versions": len(versions)})
    return rows


def home_context(user: Any) -> dict[str, Any]:
    """Counts, the newest runs and suites."""
    runs = Run.objects.visible_to(user).select_related("entrant", "version__suite")
    return {
        **workers_context(),
        "counts": {
            "suites": Suite.objects.visible_to(user).count(),
            "versions": SuiteVersion.objects.visible_to(user).count(),
            "runs": runs.count(),
            "decisions": Decision.objects.filter(source__in=("person", "resolution")).count(),
        },
        "runs": runs.order_by("-pk")[:8],
        "suites": suite_rows(
            Suite.objects.visible_to(user).order_by("-pk").prefetch_related("versions")[:8], user
        ),
    }


def shows_criteria(version: SuiteVersion, user: Any) -> bool:
    """Whether the texts of criteria are open: not those of sealed versions."""
    return not version.sealed or has_role(user, "curator")


def shown_tasks(version: SuiteVersion, user: Any) -> QuerySet[Task]:
    """The tasks of a version that this person may see, in order."""
    shown: QuerySet[Task] = (
        Task.objects.visible_to(user)
        .filter(version=version)
        .annotate(criteria_count=Count("criteria"))
        .order_by("ordinal")
    )
    return shown


def files_of(tasks: Iterable[Task]) -> dict[int, list[rasterising.Shown]]:
    """The files of some tasks as they are shown, by task."""
    held: dict[int, list[rasterising.Shown]] = {task.pk: [] for task in tasks}
    for row in rasterising.shown(TaskAsset.objects.filter(task__in=list(held))):
        held[row.asset.task_id].append(row)
    return held


def version_context(version: SuiteVersion, user: Any) -> dict[str, Any]:
    """Facts about a version."""
    holdout = version.tasks.filter(holdout=True).count()
    runs = Run.objects.visible_to(user).filter(version=version)
    runs = runs.select_related("entrant", "version__suite")
    return {
        "version": version,
        "suite": version.suite,
        "metrics": version.metrics.order_by("ordinal"),
        "task_count": version.tasks.count(),
        "holdout_count": 0 if has_role(user, "curator") else holdout,
        "criteria_count": version.tasks.aggregate(n=Count("criteria"))["n"],
        "passes": pass_pages.readable(version, user),
        "files": version.files.order_by("path").values("path", "status", "reason"),
        "runs": runs.order_by("-pk")[:20],
        "other_versions": version.suite.versions.visible_to(user)
        .exclude(pk=version.pk)
        .order_by("-pk"),
    }


def progress_context(run: Run) -> dict[str, Any]:
    """How much of a run's scoring is done."""
    counts = run.work.aggregate(
        units=Count("pk", filter=Q(kind="score")),
        done=Count("pk", filter=Q(kind="score", state="done")),
        owed=Count("pk", filter=Q(state__in=("ready", "leased"))),
        failed=Count("pk", filter=Q(state="failed")),
    )
    first = run.work.filter(state="ready").order_by("priority", "pk").first()
    ahead = 0
    if first is not None:
        ahead = Work.objects.filter(
            Q(priority__lt=first.priority) | Q(priority=first.priority, pk__lt=first.pk),
            state__in=("ready", "leased"),
        ).count()
    return {
        **workers_context(),
        "progress": {
            **counts,
            "ahead": ahead,
            "is_done": counts["owed"] == 0,
            # Without its words: they may quote an answer key. Curators read them in the admin.
            "errors": list(
                run.work.filter(state="failed")
                .order_by("pk")
                .values_list("error_id", flat=True)[:5]
            ),
        },
    }


OUTCOMES = ("all", "passed", "failed", "waiting", "unscorable")


def run_context(run: Run, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """Everything on a run's page."""
    chosen = pass_pages.chosen_pass(run.version, user, query)
    summary = run.summaries.filter(scoring_pass=chosen).first()
    results = (
        RunResult.objects.filter(run=run)
        .filter(Q(scoring_pass=chosen) | Q(scoring_pass=None))
        .select_related("metric")
        .order_by("metric__ordinal", "slice", "mode", "pk")
    )
    listed = without_fine_numbers(list(results), run.version, user)
    if summary is not None and is_closed(run.version, user):
        summary.digest = ""  # so few values could be guessed from their digest
    return {
        **progress_context(run),
        **items_context(run, user, query, chosen),
        "run": run,
        "version": run.version,
        "pass": chosen,
        "summary": summary,
        "hides_numbers": hides_numbers(run.version, user),
        "results": result_rows([row for row in listed if not row.slice]),
        "slices": [row for row in listed if row.slice and row.mode == "strict"],
        "events": run.events.select_related("actor").order_by("at", "pk"),
        "findings": finding_rows(run, user),
        "attempts": Run.objects.visible_to(user)
        .filter(version=run.version, entrant=run.entrant, kind=run.kind)
        .exclude(state=Run.State.FAILED)
        .count(),
    }


def hides_numbers(version: SuiteVersion, user: Any) -> bool:
    """Whether even the suite value is closed: very few sealed tasks would give keys away."""
    return is_closed(version, user) and version.tasks.count() < sealing.FEWEST_TASKS


def is_closed(version: SuiteVersion, user: Any) -> bool:
    """Whether this person may see numbers of whole runs only: the version is sealed and lives."""
    is_open = not version.sealed or version.state == SuiteVersion.State.RETIRED
    return not is_open and not has_role(user, "curator")


def without_fine_numbers(
    results: list[RunResult], version: SuiteVersion, user: Any
) -> list[RunResult]:
    """Results as this person may see them: of a closed version one coarse number a metric.

    Slices and reported values go; what is left is rounded to the first digit of its interval.
    """
    if not is_closed(version, user):
        return results
    tasks = version.tasks.count()
    kept = [row for row in results if not row.slice and row.origin == "computed"]
    for row in kept:
        found = sealing.coarse(row.value, row.low, row.high, tasks)
        row.value = found.value if found else None
        row.low, row.high = (found.low, found.high) if found else (None, None)
        row.note = "" if found else sealing.NO_INTERVAL
    return kept


def result_rows(results: list[RunResult]) -> list[dict[str, Any]]:
    """Results by metric, the modes and the reported value side by side."""
    rows: dict[str, dict[str, Any]] = {}
    for result in results:
        row = rows.setdefault(result.metric.key, {"metric": result.metric, "reported": None})
        if result.origin == "reported":
            row["reported"] = result
        else:
            row[result.mode] = result
    return list(rows.values())


def finding_rows(run: Run, user: Any) -> list[dict[str, Any]]:
    """Findings by code with their number; evidence of sealed records stays closed."""
    rows: dict[str, dict[str, Any]] = {}
    sealed = run.version.sealed and not has_role(user, "curator")
    for finding in run.findings.select_related("record__task").order_by("code", "pk"):
        row = rows.setdefault(
            finding.code, {"code": finding.code, "severity": finding.severity, "findings": []}
        )
        row["findings"].append(finding)
        row["sealed"] = sealed
    return list(rows.values())


def items_context(
    run: Run, user: Any, query: Mapping[str, str], chosen: ScoringPass | None
) -> dict[str, Any]:
    """The records of a run, a page of them, by outcome; keyed by id so that any page is quick."""
    outcome = query.get("outcome", "all")
    outcome = outcome if outcome in OUTCOMES else "all"
    first, last = run.pk << 39, (run.pk + 1) << 39
    records = InstanceRecord.objects.visible_to(user).filter(id__gte=first, id__lt=last)
    sealed = run.version.sealed and not has_role(user, "curator")
    if outcome != "all":
        records = records.filter(id__in=_record_ids(run, chosen, outcome))
    after = query.get("after", "")
    if after.isascii() and after.isdigit():
        records = records.filter(id__gt=min(int(after), 2**63 - 1))
    page = list(records.select_related("task").order_by("id")[: STEPS * 2 + 1])
    more = page[STEPS * 2 - 1].pk if len(page) > STEPS * 2 else None
    page = page[: STEPS * 2]
    scores = scores_by_record([record.pk for record in page], chosen)
    return {
        "items": [{"record": record, "scores": scores.get(record.pk, [])} for record in page],
        "items_sealed": sealed,
        "outcome": outcome,
        "outcomes": OUTCOMES,
        "after": after,
        "more_after": more,
    }


def _record_ids(run: Run, chosen: ScoringPass | None, outcome: str) -> QuerySet[Score, Any]:
    scores = Score.objects.filter(
        record_id__gte=run.pk << 39,
        record_id__lt=(run.pk + 1) << 39,
        scoring_pass=chosen,
        mode="strict",
        current=True,
    )
    conditions = {
        "passed": Q(passed=True),
        "failed": Q(passed=False),
        "waiting": Q(status="needs_human"),
        "unscorable": Q(status="unscorable"),
    }
    return scores.filter(conditions[outcome]).values("record_id")


def scores_by_record(
    record_ids: list[int], chosen: ScoringPass | None, *, mode: str = "strict"
) -> dict[int, list[Score]]:
    """The current scores of some records in one mode, main metric first."""
    found: dict[int, list[Score]] = {}
    rows = (
        Score.objects.filter(record_id__in=record_ids, scoring_pass=chosen, current=True, mode=mode)
        .select_related("metric")
        .order_by("record_id", "metric__ordinal", "pk")
    )
    for row in rows:
        found.setdefault(row.record_id, []).append(row)
    return found


def view_of(record: InstanceRecord) -> RecordView:
    """A record opened by the form in which it came; the key stays sealed."""
    criteria = list(record.task.criteria.order_by("ordinal"))
    return registry.open_record(
        record.run.form, raw_record(record), specs.task_spec(record.task, criteria)
    )


def steps_context(record: InstanceRecord, query: Mapping[str, str]) -> dict[str, Any]:
    """One page of a record's transcript."""
    return transcripts.page(record, view_of(record), query)


def record_context(record: InstanceRecord, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """Everything on a record's page."""
    view = view_of(record)
    chosen = pass_pages.chosen_pass(record.run.version, user, query)
    scores = (
        Score.objects.filter(record=record, scoring_pass=chosen)
        .select_related("metric")
        .order_by("metric__ordinal", "-mode", "-revision")
    )
    listed = list(scores)
    neighbours = InstanceRecord.objects.visible_to(user).of_run(record.run_id)
    answer = answer_text(view)
    hides = hides_verdicts(record, user)
    return {
        **transcripts.page(record, view, query),
        "record": record,
        "task": record.task,
        "run": record.run,
        "version": record.run.version,
        "answer": answer,
        "facts": retained_facts(view),
        "scores": [score for score in listed if score.current and not (hides and is_judged(score))],
        "earlier_scores": [] if hides else [score for score in listed if not score.current],
        "criteria": criteria_rows(record, user, hides=hides),
        "verdicts_hidden": hides,
        "reported": record.reported.none() if hides else record.reported.order_by("metric"),
        "findings": record.findings.order_by("code", "pk"),
        "special": foreign.special_counts(answer),
        "previous": neighbours.filter(id__lt=record.pk).order_by("-id").first(),
        "next": neighbours.filter(id__gt=record.pk).order_by("id").first(),
        "assets": rasterising.shown(record.task.assets.all()),
    }


def retained_facts(view: RecordView) -> dict[str, Any]:
    """The plain facts that a record carries besides answer and steps; null is "not said"."""
    evidence = view.evidence if isinstance(view.evidence, Mapping) else {}
    return {
        name: value
        for name, value in evidence.items()
        if value is None or (isinstance(value, str | int | float | bool) and value != "")
    }


def answer_text(view: RecordView) -> str:
    """The answer as text."""
    return foreign.as_text(view.answer)


def hides_verdicts(record: InstanceRecord, user: Any) -> bool:
    """Whether verdicts on a record are sealed: to everybody while it waits for a person, and to
    reviewers until their own verdict is in, so that nobody decides with the answer before them."""
    if has_role(user, "curator", "auditor") or not record.task.criteria.exists():
        return False
    waiting = record.scores.filter(
        current=True, mode="strict", status="needs_human", scoring_pass__state="published"
    )
    if waiting.exists():
        return True
    if not has_role(user, "reviewer", "adjudicator"):
        return False
    own = Decision.objects.filter(record=record, person=user)
    return (
        not own.exists()
        and not Decision.objects.filter(record=record, source__in=("person", "resolution")).exists()
    )


def is_judged(score: Score) -> bool:
    """Whether a score gives a judge's verdicts away."""
    return score.mode == "reference" and score.status == "scored"


def criteria_rows(record: InstanceRecord, user: Any, *, hides: bool) -> list[dict[str, Any]]:
    """The criteria of a record with all decisions on them, newest first; names of people masked."""
    if not shows_criteria(record.run.version, user):
        return []
    decisions: dict[int, list[Decision]] = {}
    for row in (
        []
        if hides
        else (
            Decision.objects.filter(record=record, counts=True)
            .select_related("criterion")
            .order_by("-pk")
        )
    ):
        if row.criterion_id is not None:
            decisions.setdefault(row.criterion_id, []).append(row)
    return [
        {"criterion": criterion, "decisions": decisions.get(criterion.pk, [])}
        for criterion in record.task.criteria.order_by("ordinal")
    ]


def metric_of(version: SuiteVersion, key: str) -> Metric | None:
    """A metric of a version by key."""
    found: Metric | None = version.metrics.filter(key=key).first()
    return found
