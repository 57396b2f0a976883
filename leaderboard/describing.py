"""What the pages of entrants and tasks show, and what the method page is written from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from django.db.models import F, Func, JSONField, Value
from django.db.models.functions import JSONObject

from academy import gating, pages, sealing
from academy.aggregation import SCALE, ItemState
from academy.identity import pack_record_id
from academy.models import (
    Decision,
    Entrant,
    InstanceRecord,
    Run,
    RunVector,
    ScoringPass,
    SuiteVersion,
    Task,
)
from academy.querysets import has_role
from leaderboard import (
    appraising,
    audit,
    boards,
    estimates,
    multiplicity,
    presenting,
    resampling,
    statistics,
)
from leaderboard.inputs import is_sealed
from leaderboard.models import Board, Snapshot

Json = dict[str, Any]
HISTORY = 20
MOST_BOARDS = 12
MOST_RUNS = 200


def entrant_context(entrant: Entrant, user: Any) -> Json:
    """An entrant: its runs, and where it stands and stood on each board."""
    runs = (
        Run.objects.visible_to(user)
        .filter(entrant=entrant)
        .select_related("version__suite", "entrant")
        .order_by("-pk")
    )
    boards = Board.objects.visible_to(user).filter(
        versions__in=runs.values("version"), snapshots__published_at__isnull=False
    )
    return {
        "entrant": entrant,
        "versions": SuiteVersion.objects.filter(pk__in=runs.order_by().values("version")),
        "runs": runs[:MOST_RUNS],
        "counts": {
            "runs": runs.count(),
            "withdrawn": runs.filter(state=Run.State.WITHDRAWN).count(),
        },
        "boards": [
            held
            for board in boards.distinct().order_by("title", "pk")[:MOST_BOARDS]
            if (held := _on_board(board, entrant))["history"]
        ],
        "settings": dict(entrant.settings),
    }


def _on_board(board: Board, entrant: Entrant) -> Json:
    """The newest rows of an entrant on a board, and what they were in earlier snapshots."""
    rows = Func(
        F("standings"),
        Value("$.standings[*] ? (@.entrant == $slug)"),
        Value({"slug": entrant.slug}, JSONField()),
        function="jsonb_path_query_array",
        output_field=JSONField(),
    )
    snapshots = (
        Snapshot.objects.public()
        .filter(board=board)
        .order_by("-number")
        .annotate(rows=rows, facts=_facts_of_board())
        .defer("standings", "rows_html")[:HISTORY]
    )
    history = []
    for snapshot in snapshots:
        why = {change["key"]: change["why"] for change in snapshot.differences}
        history += [
            {
                "snapshot": snapshot.number,
                "at": snapshot.published_at,
                "row": row,
                "why": why.get(row["key"], ""),
            }
            for row in snapshot.rows
        ]
    newest = snapshots[0] if snapshots else None
    return {
        "board": board,
        "rows": newest.rows if newest else [],
        "facts": newest.facts if newest else {},
        "history": history,
        "has_settings": any(held["row"]["settings"] for held in history),
    }


def _facts_of_board() -> JSONObject:
    """Suite, version and unit of a snapshot's standings, without the rows."""
    return JSONObject(
        suite="standings__suite", version="standings__version", unit="standings__metric__unit"
    )


def task_context(task: Task, user: Any) -> Json:
    """A task: what everybody made of it, and where deciders differ. Sealed: the task only."""
    version = task.version
    sealed = is_sealed(version) and not has_role(user, "curator")
    context: Json = {
        "task": task,
        "version": version,
        "suite": version.suite,
        "sealed": sealed,
        "criteria": task.criteria.order_by("ordinal")
        if pages.shows_criteria(version, user)
        else [],
        "struck": pages.struck_rows(version, user, task=task),
        "commitments": pages.commitments_of(task, user),
        "previous": _neighbour(task, user, "-ordinal", ordinal__lt=task.ordinal),
        "next": _neighbour(task, user, "ordinal", ordinal__gt=task.ordinal),
        "results": [],
        "disagreements": [],
    }
    if sealed:
        return context
    chosen = version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    results, records = _results(task, chosen, user)
    return {**context, "results": results, "disagreements": _disagreements(task, records)}


def _neighbour(task: Task, user: Any, order: str, **where: int) -> Task | None:
    shown = Task.objects.visible_to(user).filter(version=task.version, **where)
    found: Task | None = shown.order_by(order).first()
    return found


def _results(task: Task, chosen: ScoringPass | None, user: Any) -> tuple[list[Json], list[int]]:
    """By metric, each run's stored value on the task, best first; and the records to look at.

    Verdicts that a reviewer must not know yet are left out for that reviewer.
    """
    runs = {
        run.pk: run
        for run in Run.objects.visible_to(user)
        .filter(version=task.version, state=Run.State.CLOSED)
        .exclude(kind=Run.Kind.CARRIED)
        .select_related("entrant")
        .order_by("pk")[:MOST_RUNS]
    }
    first = {pack_record_id(pk, task.ordinal, 1, 0): pk for pk in runs}
    records = {
        first[record.pk]: record
        for record in InstanceRecord.objects.visible_to(user)
        .filter(pk__in=first)
        .select_related("run__version", "task")
    }
    hidden = {pk for pk, record in records.items() if pages.hides_verdicts(record, user)}
    results = []
    for grading in task.gradings:
        metric = pages.metric_of(task.version, grading["metric"])
        place = _place(task, grading["metric"])
        vectors = RunVector.objects.filter(
            run__in=list(runs), metric=metric, scoring_pass=chosen, mode="strict"
        )
        rows = [
            _value_row(runs[run_id], place, bytes(values), bytes(states), records, hidden)
            for run_id, values, states in vectors.values_list("run_id", "values", "states")
        ]
        sign = -1 if metric and metric.direction == "up" else 1
        rows.sort(
            key=lambda row: (row["value"] is None, sign * (row["value"] or 0.0), row["run"].pk)
        )
        values = [
            row["value"]
            for row in rows
            if row["value"] is not None and row["run"].kind == Run.Kind.ENTRANT
        ]
        results.append(
            {
                "metric": metric,
                "rows": rows,
                "n": len(values),
                "mean": sum(values) / len(values) if values else None,
            }
        )
    return results, [record.pk for pk, record in records.items() if pk not in hidden]


def _place(task: Task, metric: str) -> int:
    """The place of a task among those graded by a metric: its place in the stored vectors."""
    earlier = Task.objects.filter(version=task.version_id, ordinal__lt=task.ordinal)
    return earlier.filter(gradings__contains=[{"metric": metric}]).count()


def _value_row(
    run: Run, place: int, values: bytes, states: bytes, records: dict[int, Any], hidden: set[int]
) -> Json:
    state = ItemState(states[place]) if place < len(states) else ItemState.MISSING
    number = (
        np.frombuffer(values, dtype="<i8", count=1, offset=8 * place)[0]
        if place < len(states)
        else 0
    )
    is_hidden = run.pk in hidden
    return {
        "run": run,
        "record": records.get(run.pk),
        "hidden": is_hidden,
        "value": float(number) / SCALE if state is ItemState.SCORED and not is_hidden else None,
        "state": "sealed for you" if is_hidden else state.name.lower(),
    }


def _disagreements(task: Task, records: list[int]) -> list[Json]:
    """Criteria on which deciders differ about the same record, with how many records."""
    rows = Decision.objects.filter(
        record_id__in=records, current=True, counts=True, state="value", criterion__isnull=False
    ).values_list("record_id", "criterion__key", "source", "value")
    said: dict[tuple[str, int], dict[str, list[str]]] = {}
    for record, key, source, value in rows:
        said.setdefault((key, record), {}).setdefault(source, []).append(repr(value))
    found: dict[str, Json] = {}
    for (key, _record), by_source in sorted(said.items()):
        row = found.setdefault(key, {"criterion": key, "records": 0, "differ": 0, "people": 0})
        everything = {value for values in by_source.values() for value in values}
        people = {v for s in ("person", "resolution") for v in by_source.get(s, [])}
        row["records"] += 1
        row["differ"] += len(everything) > 1
        row["people"] += len(people) > 1
    return [row for row in found.values() if row["differ"]]


REFERENCE_CASES: tuple[tuple[str, str, Any, Callable[[Any], str]], ...] = (
    *(
        (
            f"Wilson 95 %: {s} of {n}",
            "wilson",
            [s, n],
            lambda r: f"{r['low']:.4f} – {r['high']:.4f}",
        )
        for s, n in ((0, 30), (8, 10), (58, 89), (89, 89), (0, 1))
    ),
    *(
        (f"McNemar exact, {b} : {c}", "mcnemar_exact", [b, c], lambda r: f"p = {round(r, 5):g}")
        for b, c in ((10, 4), (20, 6), (5, 0), (0, 0))
    ),
    (
        "3 of 5 attempts pass: pass@2",
        "pass_at_k",
        [5, 3, 2],
        lambda r: f"{r:.3g}",
    ),
    ("3 of 5 attempts pass: pass^2", "pass_hat_k", [5, 3, 2], lambda r: f"{r:.3g}"),
    (
        "Items that find 3 points at a variance of 0.1",
        "items_needed",
        [0.03, 0.1],
        lambda r: f"{r}",
    ),
)


ITEM_STATES = (
    (ItemState.SCORED, "its value", "its value", "its value"),
    (ItemState.MISSING, "the metric's missing value", "left out", "worst, best"),
    (ItemState.FAILED, "the metric's missing value", "left out", "worst, best"),
    (ItemState.WAITING, "provisional: listed, not ranked", "left out", "worst, best"),
    (ItemState.UNSCORABLE, "provisional until repaired", "left out", "worst, best"),
    (ItemState.STRUCK, "left out for every entry", "left out", "left out"),
)
LADDER = {
    Run.Verification.REPORTED: "The entrant states a number. Without records it is never ranked.",
    Run.Verification.SUPPLIED: "Answers and transcripts are here, tied to the tasks' digests.",
    Run.Verification.RESCORED: "Our scorers gave the points from those records.",
    Run.Verification.REPRODUCED: "The run was made or recorded here, or a proof of that held.",
}


def defaults_of() -> Json:
    """What a board does unless a curator says otherwise, from the policy itself."""
    policy = boards.StoredPolicy(metric="")
    return {
        "confidence": f"{policy.confidence * 100:g}",
        "rounds": policy.rounds,
        "coverage": f"{policy.coverage * 100:g}",
        "attempts": policy.attempts,
        "verification": Run.Verification(policy.verification).label,
    }


def method_context() -> Json:
    """Constants, functions and reference values, taken from the code that makes the numbers."""
    return {
        "fewest_clusters": estimates.FEWEST_CLUSTERS,
        "enough_audited": audit.ENOUGH_AUDITED,
        "fewest_sealed": sealing.FEWEST_TASKS,
        "gate_bar": f"{gating.BAR * 100:g}",
        "defaults": defaults_of(),
        "item_states": ITEM_STATES,
        "evidence": [
            {"name": boards.LABELS_OF_EVIDENCE[kind], "text": text}
            for kind, text in presenting.EVIDENCE.items()
        ],
        "ladder": [
            {"step": int(step), "label": step.label, "text": text} for step, text in LADDER.items()
        ],
        "gate_kinds": [{"name": kind, "text": text} for kind, text in appraising.KINDS.items()],
        "unit": f"2^{resampling.UNIT.bit_length() - 1}",
        "wilson_sizes": [
            _drawn(place, n, statistics.evaluate({"function": "wilson", "arguments": [s, n]}))
            for place, (s, n) in enumerate(((7, 12), (35, 60), (107, 184), (580, 1000)))
        ],
        "functions": [
            {"name": name, "text": _first_paragraph(function)}
            for name, function in sorted(statistics.FUNCTIONS.items())
        ],
        "modules": [
            {"name": module.__name__.rpartition(".")[2], "text": inspect.getdoc(module)}
            for module in (estimates, resampling, audit, multiplicity)
        ],
        "cases": [
            {
                "input": label,
                "result": show(statistics.evaluate({"function": name, "arguments": arguments})),
            }
            for label, name, arguments, show in REFERENCE_CASES
        ],
    }


def _drawn(place: int, n: int, value: Any) -> Json:
    """An interval on the figure of the method page, one line below the other."""
    x0, width, y = 110.0, 500.0, 20 + 30 * place
    low, high, point = value["low"], value["high"], value["point"]
    return {
        "n": n,
        "text_y": y + 4,
        "band_y": y - 5,
        "dot_y": y,
        "x": round(x0 + width * low, 1),
        "span": round(width * (high - low), 1),
        "point": round(x0 + width * point, 1),
        "low": f"{low * 100:.1f}",
        "high": f"{high * 100:.1f}",
    }


def _first_paragraph(function: Callable[..., object]) -> str:
    wrapped = inspect.getclosurevars(function).nonlocals.get("function", function)
    return " ".join((inspect.getdoc(wrapped) or "").partition("\n\n")[0].split())
