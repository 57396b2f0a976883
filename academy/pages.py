"""What the core's pages show: one context function per page region."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse

from academy import (
    foreign,
    pass_pages,
    rasterising,
    registry,
    specs,
    striking,
    transcript_pages,
    transcripts,
)
from academy.bundle import RecordView
from academy.models import (
    Decision,
    InstanceRecord,
    Metric,
    Run,
    Score,
    Suite,
    SuiteVersion,
    Task,
    TaskAsset,
)
from academy.packs import raw_record
from academy.querysets import has_role
from academy.worker_pages import workers_context

STEPS = 20


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


def versions_of(suite: Suite, user: Any) -> QuerySet[SuiteVersion]:
    """The versions of a suite that this person may see, newest first, with the number of their
    tasks and of the entrants' runs."""
    runs = Run.objects.visible_to(user).filter(version=OuterRef("pk"), kind=Run.Kind.ENTRANT)
    tasks = Task.objects.filter(version=OuterRef("pk"))
    found: QuerySet[SuiteVersion] = suite.versions.visible_to(user)
    return found.annotate(task_count=_number(tasks), run_count=_number(runs)).order_by(
        "-created_at", "-pk"
    )


def _number(rows: QuerySet[Any]) -> Coalesce:
    """How many rows belong to each outer row."""
    counted = rows.order_by().values("version").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def home_context(user: Any) -> dict[str, Any]:
    """Counts, the newest runs and suites."""
    runs = Run.objects.visible_to(user).select_related("entrant", "version__suite")
    return {
        **workers_context(),
        "counts": {
            "suites": Suite.objects.visible_to(user).count(),
            "versions": SuiteVersion.objects.visible_to(user).count(),
            "runs": runs.filter(kind=Run.Kind.ENTRANT).count(),
            "withdrawn": runs.filter(state=Run.State.WITHDRAWN).count(),
            **Decision.objects.aggregate(
                decisions=Count("pk", filter=Q(source__in=("person", "resolution"))),
                resolutions=Count("pk", filter=Q(source="resolution")),
            ),
        },
        "runs": runs.order_by("-pk")[:5],
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
        "curating": curating_links(version, user),
        "has_plans": registry.format_of(version.suite.format).plan is not None,
        "struck": struck_rows(version, user),
        "files": version.files.order_by("path").values("path", "status", "reason"),
        "runs": runs.order_by("-pk")[:20],
        "other_versions": version.suite.versions.visible_to(user)
        .exclude(pk=version.pk)
        .order_by("-pk"),
    }


def struck_rows(
    version: SuiteVersion, user: Any, *, task: Task | None = None
) -> list[dict[str, Any]]:
    """The criteria that are struck in the published pass, for curators in a staged one too.

    The texts of sealed criteria, and what people said of them, stay closed.
    """
    states = ["published", "staged"] if has_role(user, "curator") else ["published"]
    found = [
        (criterion, made)
        for criterion, made in striking.struck_in(version, version.passes.filter(state__in=states))
        if task in (None, criterion.task)
    ]
    if not found:
        return []
    tasks = Task.objects.visible_to(user).filter(pk__in=[row.task_id for row, _made in found])
    shown = set(tasks.values_list("pk", flat=True))
    found = [(row, made) for row, made in found if row.task_id in shown]
    is_open = shows_criteria(version, user)
    reasons = striking.reasons_for([row.pk for row, _made in found]) if is_open else {}
    return [
        {
            "criterion": criterion,
            "pass": made,
            "is_open": is_open,
            "reasons": reasons.get(criterion.pk, []),
        }
        for criterion, made in found
    ]


def commitments_of(task: Task, user: Any) -> list[dict[str, Any]]:
    """The public commitments to a task's answer key, newest first: revision, and since which pass.

    A key that no readable pass uses yet is not told.
    """
    first: dict[int, int] = {}
    for made in pass_pages.readable(task.version, user).order_by("number"):
        revision = made.key_revisions.get(str(task.pk))
        if revision is not None:
            first.setdefault(revision, made.number)
    keys = task.keys.filter(revision__in=first).order_by("-revision")
    return [
        {"revision": revision, "commitment": commitment, "pass": first[revision]}
        for revision, commitment in keys.values_list("revision", "commitment")
    ]


def curating_links(version: SuiteVersion, user: Any) -> list[dict[str, str]]:
    """The pages of a version that are for those who curate or audit it."""
    place = [version.suite.slug, version.name]
    links = []
    if has_role(user, "curator"):
        links.append({"label": "Answer keys", "url": reverse("academy:keys", args=place)})
    if has_role(user, "curator", "auditor"):
        links.append({"label": "Judges", "url": reverse("academy:judges", args=place)})
    return links


def view_of(record: InstanceRecord) -> RecordView:
    """A record opened by the form in which it came; the key stays sealed."""
    criteria = list(record.task.criteria.order_by("ordinal"))
    return registry.open_record(
        record.run.form, raw_record(record), specs.task_spec(record.task, criteria)
    )


def steps_context(
    record: InstanceRecord, user: Any, query: Mapping[str, str], *, hides: bool | None = None
) -> dict[str, Any]:
    """One page of a record's transcript; the whole record as it came unless verdicts are sealed."""
    hides = hides_verdicts(record, user) if hides is None else hides
    return transcript_pages.page(
        record,
        transcripts.opened(record, lambda: view_of(record)),
        query,
        url=reverse("academy:record", args=[record.pk]),
        mask=None,
        picture_url=lambda digest: reverse("academy:record-picture", args=[record.pk, digest]),
        shows_record=not hides,
    )


def record_context(record: InstanceRecord, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """Everything on a record's page."""
    view = transcripts.opened(record, lambda: view_of(record)).view
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
        **steps_context(record, user, query, hides=hides),
        "record": record,
        "task": record.task,
        "run": record.run,
        "version": record.run.version,
        "answer": answer,
        "facts": retained_facts(view),
        "observed": observed_parts(view),
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


def observed_parts(view: RecordView) -> dict[str, list[dict[str, Any]]]:
    """The phases and gates that were observed, in their order: name, state, and why or by what."""
    evidence = view.evidence if isinstance(view.evidence, Mapping) else {}
    found: dict[str, list[dict[str, Any]]] = {}
    for part, name in (("phases", "phase"), ("gates", "gate")):
        listed = evidence.get(part)
        rows = [row for row in listed if isinstance(row, Mapping)] if is_list(listed) else []
        found[part] = [
            {
                "name": row.get(name, ""),
                "state": row.get("state", ""),
                "note": row.get("reason") or row.get("evidence") or "",
            }
            for row in rows
        ]
    return {part: rows for part, rows in found.items() if rows}


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list of JSON."""
    return isinstance(value, list | tuple)


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
    # A verdict without a criterion is on a finding or an appeal, and decides nothing here.
    decided = Decision.objects.filter(record=record).exclude(criterion=None)
    return not decided.filter(Q(person=user) | Q(source__in=("person", "resolution"))).exists()


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
