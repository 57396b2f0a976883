"""What the page of a run shows: progress, results, findings, items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Q, QuerySet

from academy import leaving_out, pass_pages, sealing, work
from academy.models import (
    Decision,
    Finding,
    InstanceRecord,
    Run,
    RunResult,
    Score,
    ScoringPass,
    SuiteVersion,
)
from academy.pages import STEPS
from academy.querysets import has_role
from academy.worker_pages import workers_context

OUTCOMES = ("all", "passed", "failed", "waiting", "unscorable")


def progress_context(run: Run) -> dict[str, Any]:
    """How much of a run's scoring is done."""
    counts = run.work.aggregate(
        units=Count("pk", filter=Q(kind="score")),
        done=Count("pk", filter=Q(kind="score", state="done")),
        owed=Count("pk", filter=Q(state__in=("ready", "leased"))),
        paused=Count("pk", filter=Q(state="paused")),
        failed=Count("pk", filter=Q(state="failed")),
    )
    return {
        **workers_context(),
        "progress": {
            **counts,
            "ahead": work.units_ahead(run.work.all()),
            "is_done": counts["owed"] == 0 and counts["paused"] == 0,
            # Without its words: they may quote an answer key. Curators read them in the admin.
            "errors": list(
                run.work.filter(state="failed")
                .order_by("pk")
                .values_list("error_id", flat=True)[:5]
            ),
        },
    }


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
        "curates": has_role(user, "curator"),
        "shows_actors": has_role(user, "curator", "auditor"),
        "events": run.events.select_related("actor").order_by("at", "pk"),
        "findings": finding_rows(run, user),
        "left_out": leaving_out.sentence_on(run.left_out),
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
    """Findings by code with their number and what people made of them; what is sealed stays closed.

    Of a sealed version only the states are told, to all but curators.
    """
    rows: dict[str, dict[str, Any]] = {}
    sealed = run.version.sealed and not has_role(user, "curator")
    listed = list(run.findings.select_related("record__task").order_by("code", "pk"))
    reasons = {} if sealed else outcomes_of(run, listed)
    for finding in listed:
        row = rows.setdefault(
            finding.code,
            {
                "code": finding.code,
                "severity": finding.severity,
                "findings": [],
                "states": Counter(),
                "sealed": sealed,
                "decided": [],
            },
        )
        row["findings"].append(finding)
        row["states"][finding.state] += 1
        if finding.state != "open":
            row["decided"].append({"finding": finding, "reason": reasons.get(finding.pk, "")})
    for row in rows.values():
        row["states"] = sorted(row["states"].items())
    return list(rows.values())


def outcomes_of(run: Run, findings: Iterable[Finding]) -> dict[int, str]:
    """Why people decided findings as they did, by finding: the resolution, else all who agreed."""
    parts = {f"finding:{row.pk}": row.pk for row in findings if row.state != "open"}
    if not parts:
        return {}
    first, last = run.pk << 39, (run.pk + 1) << 39
    rows = Decision.objects.filter(
        Q(run=run) | Q(record_id__gte=first, record_id__lt=last), part__in=parts, current=True
    ).exclude(state="withdrawn")
    said: dict[int, dict[str, list[str]]] = {}
    for row in rows.order_by("pk"):
        held = said.setdefault(parts[row.part], {}).setdefault(row.source, [])
        if row.reason and row.reason not in held:
            held.append(row.reason)
    return {
        pk: "\n".join(by_source.get("resolution") or by_source.get("person", []))
        for pk, by_source in said.items()
    }


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
