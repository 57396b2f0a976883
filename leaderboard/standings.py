"""The standings of a board, computed once for page, API, command and export, and snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.db.models import Count
from django.template.loader import render_to_string
from django.utils import timezone

from academy import summing
from academy.aggregation import ItemState, ItemVector
from academy.canonical import digest
from academy.models import (
    Decision,
    Metric,
    Run,
    RunResult,
    RunVector,
    ScoringPass,
    SuiteVersion,
    Summary,
    Task,
)
from leaderboard import presenting
from leaderboard.attempts import choose_attempt
from leaderboard.boards import StoredPolicy
from leaderboard.digits import shown
from leaderboard.entries import Entry, Policy
from leaderboard.models import Board, Snapshot
from leaderboard.ranking import Ranking, Standing, rank

SEALED_TASKS_FOR_NUMBERS = 10


@dataclass(frozen=True, slots=True)
class Candidate:
    """One entrant on a board: the run that counts, its items, and all of its attempts."""

    key: str
    run: Run
    attempts: tuple[Run, ...]
    vector: ItemVector
    reported: float | None
    mean_of_attempts: float | None


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a ranking rests on."""

    version: SuiteVersion
    scoring_pass: ScoringPass
    metric: Metric
    policy: StoredPolicy
    positions: tuple[int, ...]
    clusters: tuple[str, ...] | None
    candidates: tuple[Candidate, ...]
    baselines: tuple[Candidate, ...]


def newest_version(board: Board) -> SuiteVersion | None:
    """The version whose numbers the board shows."""
    return (
        board.versions.exclude(state=SuiteVersion.State.DRAFT)
        .select_related("suite")
        .order_by("-published_at", "-pk")
        .first()
    )


def read_inputs(board: Board, version: SuiteVersion) -> Inputs | None:
    """The runs of a board with their item values, or None when nothing can be scored yet."""
    policy = StoredPolicy.read(board.policy)
    chosen = version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    metric = version.metrics.filter(key=policy.metric).first()
    if chosen is None or metric is None:
        return None
    tasks = _graded_tasks(version, metric)
    positions = tuple(
        place for place, task in enumerate(tasks) if _matches(task.attributes, policy.where)
    )
    clusters = None
    if policy.cluster:
        clusters = tuple(
            str(tasks[place].attributes.get(policy.cluster, tasks[place].external_id))
            for place in positions
        )
    runs = list(
        Run.objects.filter(version=version, state=Run.State.CLOSED)
        .exclude(kind=Run.Kind.CARRIED)
        .select_related("entrant")
        .order_by("attempt", "pk")
    )
    vectors = _vectors(runs, metric, chosen, policy.mode)
    reported = dict(
        RunResult.objects.filter(
            run__in=runs, metric=metric, origin="reported", slice=""
        ).values_list("run_id", "value")
    )
    made = _candidates(runs, metric, policy, positions, vectors, reported)
    return Inputs(
        version,
        chosen,
        metric,
        policy,
        positions,
        clusters,
        tuple(c for c in made if c.run.kind == Run.Kind.ENTRANT),
        tuple(c for c in made if c.run.kind != Run.Kind.ENTRANT),
    )


def _graded_tasks(version: SuiteVersion, metric: Metric) -> list[Task]:
    return [
        task
        for task in version.tasks.order_by("ordinal")
        if any(grading["metric"] == metric.key for grading in task.gradings)
    ]


def _matches(attributes: dict[str, Any], where: Any) -> bool:
    return all(attributes.get(name) == value for name, value in where.items())


def _vectors(
    runs: Sequence[Run], metric: Metric, chosen: ScoringPass, mode: str
) -> dict[int, ItemVector]:
    rows = RunVector.objects.filter(
        run__in=runs, metric=metric, scoring_pass=chosen, mode=mode
    ).values_list("run_id", "values", "states")
    return {run_id: summing.decode(bytes(v), bytes(s)) for run_id, v, s in rows}


def _candidates(
    runs: Sequence[Run],
    metric: Metric,
    policy: StoredPolicy,
    positions: Sequence[int],
    vectors: dict[int, ItemVector],
    reported: dict[int, float],
) -> list[Candidate]:
    grouped: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        if run.pk in vectors or run.pk in reported:
            key = (run.kind, run.entrant.slug, run.arm, run.scenario)
            grouped.setdefault(key, []).append(run)
    made = []
    for (_kind, slug, arm, scenario), attempts in sorted(grouped.items()):
        cut = [_cut(vectors.get(run.pk), positions) for run in attempts]
        chosen = choose_attempt(
            [_plain_mean(vector, metric.missing) for vector in cut],
            policy.attempts,  # type: ignore[arg-type]
            metric.direction,
        )
        place = len(attempts) - 1 if chosen.index is None else chosen.index
        made.append(
            Candidate(
                key=" · ".join(part for part in (slug, arm, scenario) if part),
                run=attempts[place],
                attempts=tuple(attempts),
                vector=cut[place],
                reported=reported.get(attempts[place].pk),
                mean_of_attempts=chosen.mean if len(attempts) > 1 else None,
            )
        )
    return made


def _cut(vector: ItemVector | None, positions: Sequence[int]) -> ItemVector:
    if vector is None:
        return ItemVector((), ())
    return ItemVector(
        tuple(vector.values[place] for place in positions if place < len(vector.values)),
        tuple(vector.states[place] for place in positions if place < len(vector.states)),
    )


def _plain_mean(vector: ItemVector, missing: float | None) -> float | None:
    values = [
        missing if state in (ItemState.MISSING, ItemState.FAILED) else value
        for value, state in zip(vector.values, vector.states, strict=True)
    ]
    held = [value for value in values if value is not None]
    return sum(held) / len(held) if held else None


def rank_policy(inputs: Inputs) -> Policy:
    """The board's policy in the terms of the ranking function."""
    metric, policy = inputs.metric, inputs.policy
    is_share = metric.kind in ("pass", "graded") and metric.high == 1.0 and metric.low == 0.0
    return Policy(
        direction=metric.direction,
        kind=metric.kind,  # type: ignore[arg-type]
        missing_value=metric.missing,
        coverage=policy.coverage,
        statistic="median" if metric.run_aggregation == "median" else "mean",
        origin=policy.origin,  # type: ignore[arg-type]
        ranked=policy.ranked,
        range=(
            None if metric.low is None or metric.high is None else (metric.low, metric.high)
        ),
        clusters=inputs.clusters,
        confidence=policy.confidence,
        rounds=policy.rounds,
        digits=1 if is_share or metric.unit == "%" else 3,
        scale=100 if is_share or metric.kind == "pass" else 1,
    )


def compute(board: Board) -> dict[str, Any] | None:
    """The standings of a board as plain values: what the page, the API and the command show.

    None when the board's version is not public or has nothing that could be scored.
    """
    version = newest_version(board)
    inputs = read_inputs(board, version) if version else None
    if inputs is None:
        return None
    policy = rank_policy(inputs)
    items = len(inputs.positions)
    audited = _audited_counts(inputs)
    entries = [
        _entry(candidate, items, _held_back(candidate, inputs, audited))
        for candidate in inputs.candidates
    ]
    ranking = rank(entries, policy, inputs.version.digest)
    beside = rank(
        [_entry(candidate, items, "") for candidate in inputs.baselines],
        policy,
        inputs.version.digest,
    )
    return _as_json(board, inputs, policy, ranking, beside)


def _entry(candidate: Candidate, items: int, held_back: str) -> Entry:
    states = [int(state) for state in candidate.vector.states]
    absent = items - len(states)
    return Entry(
        key=candidate.key,
        values=[*candidate.vector.values, *([None] * absent)],
        states=[*states, *([int(ItemState.MISSING)] * absent)],
        reported=candidate.reported,
        held_back=held_back,
    )


def _audited_counts(inputs: Inputs) -> dict[int, int]:
    if inputs.policy.evidence != "judge_audited":
        return {}
    rows = (
        Decision.objects.filter(
            record__run__in=[candidate.run for candidate in inputs.candidates],
            source__in=("person", "resolution"),
            current=True,
            counts=True,
        )
        .values("record__run")
        .annotate(records=Count("record", distinct=True))
    )
    return {row["record__run"]: row["records"] for row in rows}


def _held_back(candidate: Candidate, inputs: Inputs, audited: dict[int, int]) -> str:
    policy = inputs.policy
    if candidate.run.verification < policy.verification:
        step = Run.Verification(policy.verification).label.lower()
        return f"This board ranks from the step “{step}” on."
    if policy.evidence == "judge_audited":
        seen = audited.get(candidate.run.pk, 0)
        needed = min(policy.audited, len(inputs.positions))
        if seen < needed:
            return f"Judged, not audited: people have checked {seen} of {needed} records."
    return ""


def _as_json(
    board: Board, inputs: Inputs, policy: Policy, ranking: Ranking, beside: Ranking
) -> dict[str, Any]:
    by_key = {candidate.key: candidate for candidate in inputs.candidates}
    base = {candidate.key: candidate for candidate in inputs.baselines}
    beside_values = _secondary(inputs)
    hides = inputs.version.sealed and len(inputs.positions) < SEALED_TASKS_FOR_NUMBERS
    return {
        "board": board.slug,
        "title": board.title,
        "revision": board.revision,
        "suite": inputs.version.suite.slug,
        "version": inputs.version.name,
        "version_id": inputs.version.pk,
        "version_digest": inputs.version.digest,
        "pass": inputs.scoring_pass.number,
        "pass_digest": inputs.scoring_pass.digest,
        "metric": _metric_json(inputs, policy),
        "policy": inputs.policy.as_json(),
        "n": ranking.n,
        "clusters": ranking.clusters,
        "test": ranking.test,
        "rounds": ranking.rounds,
        "seed": ranking.seed,
        "digits": ranking.digits,
        "fragility": ranking.fragility,
        "detectable": ranking.detectable,
        "notes": list(ranking.notes),
        "numbers_hidden": hides,
        "standings": [
            _row(standing, by_key[standing.key], beside_values, policy, ranking.digits, hides)
            for standing in ranking.standings
        ],
        "baselines": [
            _row(standing, base[standing.key], beside_values, policy, ranking.digits, hides)
            for standing in beside.standings
        ],
    }


def _metric_json(inputs: Inputs, policy: Policy) -> dict[str, Any]:
    metric = inputs.metric
    return {
        "key": metric.key,
        "label": metric.label,
        "direction": metric.direction,
        "kind": metric.kind,
        "unit": "%" if policy.scale == 100 else metric.unit,
        "scale": policy.scale,
        "low": metric.low,
        "high": metric.high,
        "mode": inputs.policy.mode,
        "statistic": policy.statistic,
    }


def _secondary(inputs: Inputs) -> dict[int, dict[str, Any]]:
    """Second numbers by run: the metrics the policy names, and details such as a tier."""
    runs = [c.run.pk for c in (*inputs.candidates, *inputs.baselines)]
    rows = RunResult.objects.filter(
        run__in=runs, scoring_pass=inputs.scoring_pass, slice="", origin="computed"
    ).select_related("metric")
    found: dict[int, dict[str, Any]] = {run: {"metrics": {}, "details": {}} for run in runs}
    for row in rows.order_by("pk"):
        if row.metric_id == inputs.metric.pk and row.mode == inputs.policy.mode:
            found[row.run_id]["details"] = row.details
        if row.metric_id == inputs.metric.pk and row.mode == "reference":
            found[row.run_id]["metrics"]["reference"] = row.value
        if row.metric.key in inputs.policy.secondary and row.mode == inputs.policy.mode:
            found[row.run_id]["metrics"][row.metric.key] = row.value
    summaries = Summary.objects.filter(run__in=runs, scoring_pass=inputs.scoring_pass)
    for run, usage in summaries.values_list("run_id", "usage"):
        found[run]["usage"] = usage
    return found


def _row(
    standing: Standing,
    candidate: Candidate,
    beside: dict[int, dict[str, Any]],
    policy: Policy,
    digits: int,
    hides: bool,
) -> dict[str, Any]:
    run, score = candidate.run, standing.score
    extra = beside.get(run.pk, {})

    def text(value: float | None) -> str | None:
        return None if value is None or hides else shown(value, digits, policy.scale)

    return {
        "entrant": run.entrant.slug,
        "name": run.entrant.name,
        "settings": " · ".join(
            part for part in (run.entrant.harness, run.arm, run.scenario) if part
        ),
        "kind": run.kind,
        "run": run.pk,
        "attempt": run.attempt,
        "attempts": len(candidate.attempts),
        "verification": run.verification,
        "verification_label": run.get_verification_display(),
        "is_example": run.entrant.is_example,
        "place": str(standing.place),
        "reason": standing.reason,
        "rank": standing.rank,
        "rank_low": standing.rank_low,
        "rank_high": standing.rank_high,
        "p_first": standing.p_first,
        "p_top3": standing.p_top3,
        "tie_group": standing.tie_group,
        "score": None if hides else score.point,
        "low": None if hides else score.low,
        "high": None if hides else score.high,
        "method": score.method,
        "shown": None if hides else standing.shown,
        "shown_low": text(score.low),
        "shown_high": text(score.high),
        "note": score.note,
        "reported": standing.reported,
        "second": None if hides else standing.second,
        "worst": None if hides else standing.worst,
        "best": None if hides else standing.best,
        "coverage": standing.coverage,
        "n": standing.n,
        "scored": standing.scored,
        "missing": standing.missing,
        "failed": standing.failed,
        "waiting": standing.waiting,
        "unscorable": standing.unscorable,
        "mean_of_attempts": None if hides else candidate.mean_of_attempts,
        "metrics": {} if hides else extra.get("metrics", {}),
        "details": public_details(extra.get("details", {})),
        "usage": extra.get("usage", {}),
        "run_digest": run.digest,
    }


PUBLIC_DETAILS = ("tier", "passed", "beats_baseline")


def public_details(details: dict[str, Any]) -> dict[str, Any]:
    """The details of a result that any reader may see beside it."""
    return {name: details[name] for name in PUBLIC_DETAILS if name in details}


def publish_snapshot(board: Board) -> Snapshot | None:
    """Publish the board as it stands. When nothing changed, the newest snapshot stands."""
    standings = compute(board)
    if standings is None:
        return None
    inputs_digest = digest(standings)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [7101, board.pk])
        newest = board.newest_snapshot()
        if newest is not None and newest.inputs_digest == inputs_digest:
            return newest
        number = 1 if newest is None else newest.number + 1
        snapshot = Snapshot(
            board=board,
            number=number,
            board_revision=board.revision,
            inputs_digest=inputs_digest,
            digest=digest({"board": board.slug, "number": number, "standings": standings}),
            standings=standings,
            differences=differences(newest.standings if newest else None, standings),
            published_at=timezone.now(),
        )
        snapshot.rows_html = render_to_string(
            "leaderboard/_board_rows.html", presenting.rows_context(board, standings)
        )
        snapshot.save()
    return snapshot


def differences(before: dict[str, Any] | None, after: dict[str, Any]) -> list[dict[str, Any]]:
    """Who moved between two snapshots, by entrant and run."""
    if before is None:
        return []
    old = {(row["entrant"], row["settings"]): row for row in before["standings"]}
    moved = []
    for row in after["standings"]:
        known = old.pop((row["entrant"], row["settings"]), None)
        if known is None:
            moved.append({"entrant": row["entrant"], "what": "new", "rank": row["rank"]})
        elif (known["rank"], known["score"], known["place"]) != (
            row["rank"],
            row["score"],
            row["place"],
        ):
            moved.append(
                {
                    "entrant": row["entrant"],
                    "what": "moved",
                    "rank": row["rank"],
                    "rank_before": known["rank"],
                    "score": row["score"],
                    "score_before": known["score"],
                }
            )
    moved += [{"entrant": entrant, "what": "gone"} for entrant, _settings in old]
    return moved
