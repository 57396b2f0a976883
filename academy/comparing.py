"""What a staged pass would change: results of runs, items and why, and places on boards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from academy.models import (
    Criterion,
    InstanceRecord,
    Run,
    RunResult,
    ScoringPass,
    SuiteVersion,
    Task,
)

SHOWN_CHANGES = 500
Preview = Callable[[ScoringPass], list[dict[str, Any]]]
PREVIEWS: list[Preview] = []

CHANGED = """
SELECT a.record_id, m.key, a.mode, a.status, a.value, a.passed, b.status, b.value, b.passed,
       count(*) OVER ()
FROM academy_score a
JOIN academy_score b ON b.record_id = a.record_id AND b.metric_id = a.metric_id
     AND b.mode = a.mode AND b.scoring_pass_id = %(after)s AND b.current
JOIN academy_metric m ON m.id = a.metric_id
WHERE a.scoring_pass_id = %(before)s AND a.current
  AND a.record_id >= %(first)s AND a.record_id < %(last)s
  AND (a.status, a.value, a.passed) IS DISTINCT FROM (b.status, b.value, b.passed)
ORDER BY a.record_id, m.ordinal, a.mode DESC LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class PassDifferences:
    """Two passes of a version held against each other, as plain values for page and command."""

    before: ScoringPass
    after: ScoringPass
    runs: tuple[dict[str, Any], ...]
    items: tuple[dict[str, Any], ...]
    changed_scores: int
    boards: tuple[dict[str, Any], ...]
    causes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """The differences as plain values."""
        return {
            "before": self.before.number,
            "after": self.after.number,
            "state": self.after.state,
            "reason": self.after.reason,
            "digest": self.after.digest,
            "causes": list(self.causes),
            "runs": list(self.runs),
            "items": list(self.items),
            "changed_scores": self.changed_scores,
            "boards": list(self.boards),
        }


def preview_boards_with(preview: Preview) -> None:
    """Name a function that tells how boards would stand if a pass were published."""
    if preview not in PREVIEWS:
        PREVIEWS.append(preview)


def pass_before(chosen: ScoringPass) -> ScoringPass | None:
    """The pass to hold one against: the published one, or the one published before it."""
    if chosen.state == ScoringPass.State.STAGED:
        found: ScoringPass | None = chosen.version.passes.filter(state="published").first()
        return found
    earlier = chosen.version.passes.filter(number__lt=chosen.number, published_at__isnull=False)
    return earlier.order_by("-number").first()


def differences(before: ScoringPass, after: ScoringPass, *, boards: bool = True) -> PassDifferences:
    """Who would move, by how much, which items changed, and why."""
    rows, total = changed_scores(before, after)
    reasons = Reasons.of(before, after)
    return PassDifferences(
        before=before,
        after=after,
        runs=tuple(changed_results(before, after)),
        items=tuple(changed_items(rows, reasons)),
        changed_scores=total,
        boards=tuple(row for preview in PREVIEWS for row in preview(after)) if boards else (),
        causes=tuple(reasons.told()),
    )


def changed_results(before: ScoringPass, after: ScoringPass) -> list[dict[str, Any]]:
    """Results of whole runs that differ, or are open in one of the passes."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    rows = (
        RunResult.objects.filter(scoring_pass__in=(before, after), slice="", origin="computed")
        .select_related("metric", "run__entrant")
        .order_by("run_id", "metric__ordinal", "-mode", "pk")
    )
    for row in rows:
        place = found.setdefault(
            (row.run_id, row.metric_id, row.mode),
            {
                "run": row.run_id,
                "entrant": row.run.entrant.slug,
                "name": row.run.entrant.name,
                "kind": row.run.kind,
                "metric": row.metric.key,
                "mode": row.mode,
                "before": None,
                "after": None,
                "waiting_before": None,
                "waiting_after": None,
            },
        )
        side = "before" if row.scoring_pass_id == before.pk else "after"
        place[side], place[f"waiting_{side}"] = row.value, row.waiting
    changed = []
    for place in found.values():
        if (place["before"], place["waiting_before"]) != (place["after"], place["waiting_after"]):
            known = place["before"] is not None and place["after"] is not None
            place["difference"] = place["after"] - place["before"] if known else None
            changed.append(place)
    return changed


def changed_scores(before: ScoringPass, after: ScoringPass) -> tuple[list[tuple[Any, ...]], int]:
    """Scores that differ between two passes, up to a cap, and how many there are in all."""
    ids = Run.objects.filter(version=before.version_id).order_by("pk").values_list("pk", flat=True)
    if not ids:
        return [], 0
    with connection.cursor() as cursor:
        cursor.execute(
            CHANGED,
            {
                "before": before.pk,
                "after": after.pk,
                "first": ids[0] << 39,
                "last": (list(ids)[-1] + 1) << 39,
                "limit": SHOWN_CHANGES,
            },
        )
        rows = cursor.fetchall()
    return [row[:9] for row in rows], rows[0][9] if rows else 0


@dataclass(frozen=True, slots=True)
class Reasons:
    """What differs between two passes besides their scores: why an item may have changed."""

    keys: Mapping[int, tuple[int | None, int | None]]
    struck: Mapping[int, list[str]]
    restored: Mapping[int, list[str]]
    scorers: Mapping[str, tuple[int | None, int | None]]
    evidence: bool

    @classmethod
    def of(cls, before: ScoringPass, after: ScoringPass) -> Reasons:
        """The differences of what two passes fix."""
        return cls(
            keys={
                int(task): pair
                for task, pair in differing(before.key_revisions, after.key_revisions).items()
            },
            struck=criteria_by_task(set(after.struck) - set(before.struck)),
            restored=criteria_by_task(set(before.struck) - set(after.struck)),
            scorers=differing(before.scorers, after.scorers),
            evidence=before.evidence != after.evidence,
        )

    def told(self) -> list[str]:
        """The differences in sentences."""
        told = [f"scorer {name}: version {a} to {b}" for name, (a, b) in self.scorers.items()]
        if self.keys:
            more = "s" if len(self.keys) > 1 else ""
            told.append(f"{len(self.keys)} answer key{more} in another revision")
        if self.struck:
            told.append(f"{sum(map(len, self.struck.values()))} criteria are struck as defective")
        if self.restored:
            told.append(f"{sum(map(len, self.restored.values()))} criteria count again")
        if self.evidence:
            told.append("other evidence counts")
        return told

    def for_task(self, task: Task) -> list[str]:
        """Why scores of a task may differ."""
        told = []
        if task.pk in self.keys:
            old, new = self.keys[task.pk]
            told.append(f"answer key revision {old or 'none'} to {new or 'none'}")
        told += [f"criterion {key} struck" for key in self.struck.get(task.pk, ())]
        told += [f"criterion {key} counts again" for key in self.restored.get(task.pk, ())]
        named = {grading["scorer"] for grading in task.gradings}
        told += [
            f"scorer {name} version {old} to {new}"
            for name, (old, new) in self.scorers.items()
            if name.partition("/")[0] in named
        ]
        if self.evidence:
            told.append("other evidence counts")
        return told or ["decisions made since then"]


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What two mappings do not have in common, with both values."""
    return {
        name: (before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    }


def criteria_by_task(criteria: set[int]) -> dict[int, list[str]]:
    """The keys of some criteria by their task."""
    found: dict[int, list[str]] = {}
    for task, key in (
        Criterion.objects.filter(pk__in=criteria).order_by("pk").values_list("task", "key")
    ):
        found.setdefault(task, []).append(key)
    return found


def changed_items(rows: list[tuple[Any, ...]], reasons: Reasons) -> list[dict[str, Any]]:
    """Changed scores by task in task order, with the reasons."""
    records = _tasks_of({row[0] for row in rows})
    items: dict[int, dict[str, Any]] = {}
    for record_id, metric, mode, status, value, passed, status2, value2, passed2 in rows:
        task = records[record_id]
        item = items.setdefault(
            task.pk,
            {
                "task": task.external_id,
                "ordinal": task.ordinal,
                "holdout": task.holdout,
                "reasons": reasons.for_task(task),
                "runs": [],
                "changes": [],
            },
        )
        run = record_id >> 39
        if run not in item["runs"]:
            item["runs"].append(run)
        item["changes"].append(
            {
                "record": record_id,
                "run": run,
                "metric": metric,
                "mode": mode,
                "before": {"status": status, "value": value, "passed": passed},
                "after": {"status": status2, "value": value2, "passed": passed2},
            }
        )
    return sorted(items.values(), key=lambda item: item["ordinal"])


def _tasks_of(record_ids: set[int]) -> dict[int, Task]:
    rows = InstanceRecord.objects.filter(pk__in=record_ids).select_related("task")
    return {row.pk: row.task for row in rows}


def shown_to_public(version: SuiteVersion, told: dict[str, Any]) -> dict[str, Any]:
    """Differences without what is sealed: single items of sealed versions and held-out tasks."""
    if version.sealed and version.state != SuiteVersion.State.RETIRED:
        return {**told, "items": [], "runs": [], "boards": [], "is_sealed": True}
    return {**told, "items": [item for item in told["items"] if not item["holdout"]]}
