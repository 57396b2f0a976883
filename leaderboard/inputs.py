"""What a ranking rests on: the items of its versions, and for each entrant the run that counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from django.db.models import Q

from academy.bundle import Direction
from academy.canonical import digest
from academy.models import (
    Run,
    ScoringPass,
    SuiteVersion,
    Summary,
    Task,
)
from academy.statements import all_bound
from leaderboard.boards import StoredPolicy
from leaderboard.candidates import (
    STANDING,
    Candidate,
    Part,
    candidates_of,
    joined,
    withdrawn_runs,
)
from leaderboard.digits import writing_of
from leaderboard.entries import Entry, Policy
from leaderboard.graded import graded_tasks
from leaderboard.models import Board


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a ranking rests on. Baselines and withdrawn runs are listed apart."""

    policy: StoredPolicy
    parts: tuple[Part, ...]
    clusters: tuple[str, ...] | None
    replicates: int
    candidates: tuple[Candidate, ...]
    baselines: tuple[Candidate, ...]
    withdrawn: tuple[Candidate, ...]
    summaries: Mapping[int, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    @property
    def newest(self) -> Part:
        """The part that names the board's metric and version."""
        return self.parts[-1]

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The items in their fixed order."""
        return tuple(chain.from_iterable(part.tasks for part in self.parts))

    @property
    def sealed(self) -> bool:
        """Whether any part still keeps its answer keys sealed."""
        return any(is_sealed(part.version) for part in self.parts)

    @property
    def seed_digest(self) -> str:
        """What fixes the draws: the version's digest, or one over those of several."""
        digests = [part.version.digest for part in self.parts]
        return digests[0] if len(digests) == 1 else digest(digests)


def is_sealed(version: SuiteVersion) -> bool:
    """Whether a version publishes results per run only: sealed, and not retired yet."""
    return version.sealed and version.state != SuiteVersion.State.RETIRED


def shown_versions(board: Board, policy: StoredPolicy) -> list[SuiteVersion]:
    """The versions whose numbers the board shows: the newest public one, or all of them."""
    public = list(
        board.versions.exclude(state=SuiteVersion.State.DRAFT)
        .select_related("suite")
        .order_by("published_at", "pk")
    )
    return public if policy.versions == "all" else public[-1:]


@all_bound()
def read_inputs(board: Board) -> Inputs | None:
    """The runs of a board with their item values, or None when nothing can be scored yet."""
    policy = StoredPolicy.read(board.policy)
    parts = [part for version in shown_versions(board, policy) if (part := _part(version, policy))]
    if not parts:
        return None
    clusters = None
    if policy.cluster:
        clusters = tuple(
            str(task.attributes.get(policy.cluster, f"{part.version.pk}/{task.external_id}"))
            for part in parts
            for task in part.tasks
        )
    runs = {part.version.pk: _runs(part) for part in parts}
    summaries = _summaries(parts)
    replicates = max((usage.get("replicates", 1) for _, usage in summaries.values()), default=1)
    if policy.attempts == "mean":
        replicates = max(replicates, 2)
    bare = Inputs(policy, tuple(parts), clusters, replicates, (), (), (), summaries)
    by_part = [
        candidates_of(
            part,
            runs[part.version.pk],
            policy,
            # One policy for all parts would carry the labels of all their items.
            rank_policy(replace(bare, parts=(part,), clusters=None)),
        )
        for part in parts
    ]
    gone = withdrawn_runs(by_part)
    keys = sorted({key for held in by_part for key in held})
    made = [joined(key, by_part, parts, gone) for key in keys]
    return replace(
        bare,
        candidates=tuple(c for kind, c in made if kind == Run.Kind.ENTRANT),
        withdrawn=tuple(c for kind, c in made if kind == "withdrawn"),
        baselines=tuple(c for kind, c in made if kind not in (Run.Kind.ENTRANT, "withdrawn")),
    )


def rank_policy(inputs: Inputs) -> Policy:
    """The board's policy in the terms of the ranking function."""
    metric, policy = inputs.newest.metric, inputs.policy
    digits, scale = writing_of(metric.kind, metric.unit, metric.low, metric.high)
    return Policy(
        direction=Direction(metric.direction),
        kind=metric.kind,  # type: ignore[arg-type]
        missing_value=metric.missing,
        coverage=policy.coverage,
        statistic="median" if metric.run_aggregation == "median" else "mean",
        origin=policy.origin,  # type: ignore[arg-type]
        test="t" if policy.evidence == "judge_audited" else "auto",
        replicates=inputs.replicates,
        ranked=policy.ranked,
        range=(None if metric.low is None or metric.high is None else (metric.low, metric.high)),
        clusters=inputs.clusters,
        confidence=policy.confidence,
        rounds=policy.rounds,
        digits=digits,
        scale=scale,
    )


def entry_of(candidate: Candidate, held_back: str = "") -> Entry:
    """A candidate in the terms of the ranking function."""
    return Entry(
        key=candidate.key,
        values=candidate.numbers,
        states=candidate.codes,
        reported=candidate.reported,
        held_back=held_back,
    )


def _part(version: SuiteVersion, policy: StoredPolicy) -> Part | None:
    chosen = version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    metric = version.metrics.filter(key=policy.metric).first()
    if chosen is None or metric is None:
        return None
    return Part(version, chosen, metric, graded_tasks(version, metric.key, policy.where))


def _runs(part: Part) -> list[Run]:
    """The runs that stand on a board or beside it; carried ones repeat another version's. What is
    withdrawn is listed as an attempt, which a baseline that another replaced never was."""
    replaced = Q(state=Run.State.WITHDRAWN) & ~Q(kind=Run.Kind.ENTRANT)
    held = Run.objects.filter(version=part.version, state__in=STANDING).exclude(replaced)
    return list(
        held.exclude(kind=Run.Kind.CARRIED).select_related("entrant").order_by("attempt", "pk")
    )


def _summaries(parts: Sequence[Part]) -> dict[int, tuple[str, Mapping[str, Any]]]:
    rows = Summary.objects.filter(
        run__state__in=STANDING, scoring_pass__in=[part.scoring_pass for part in parts]
    )
    return {
        run: (hashed, usage) for run, hashed, usage in rows.values_list("run_id", "digest", "usage")
    }
