"""What a ranking rests on: the items of its versions, and for each entrant the run that counts.

Longer than other modules because what counts must be read in one place, for pages, files and API.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from academy import rejudging, summing
from academy.aggregation import ItemState
from academy.bundle import Direction
from academy.canonical import digest
from academy.models import (
    Metric,
    Run,
    RunResult,
    RunVector,
    ScoringPass,
    SuiteVersion,
    Summary,
    Task,
)
from academy.scorers.base import Mode
from academy.statements import all_bound, read_binary
from leaderboard.attempts import choose_attempt, mean_items
from leaderboard.audit import audited_values
from leaderboard.boards import StoredPolicy
from leaderboard.digits import writing_of
from leaderboard.entries import Entry, Policy
from leaderboard.graded import Graded, graded_tasks
from leaderboard.models import Board
from leaderboard.ranking import attempt_scores

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]
STANDING = (Run.State.CLOSED, Run.State.WITHDRAWN)
TOLD_KINDS = tuple(kind for kind in Run.Kind.values if kind != Run.Kind.ENTRANT)


@dataclass(frozen=True, slots=True)
class Part:
    """One version of a board: its pass, its metric, and the tasks that the policy counts."""

    version: SuiteVersion
    scoring_pass: ScoringPass
    metric: Metric
    graded: Graded

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks, in their fixed order."""
        return self.graded.tasks


@dataclass(frozen=True, eq=False)
class Candidate:
    """One entrant on a board: the run that counts in each part, its items, all its attempts.

    `numbers` has NaN wherever the state in `codes` is not SCORED; `values` and `states` are the
    same as plain values, for a few entries. `audited` counts the records that people checked;
    `mean_of_attempts` stands beside a chosen one.
    """

    key: str
    runs: tuple[Run, ...]
    attempts: tuple[Run, ...]
    numbers: FloatArray
    codes: UInt8Array
    reported: float | None = None
    mean_of_attempts: float | None = None
    audited: int = 0
    withdrawn: int = 0

    @cached_property
    def values(self) -> tuple[float | None, ...]:
        """The value of each item, None where it has none."""
        return tuple(None if value != value else value for value in self.numbers.tolist())

    @cached_property
    def states(self) -> tuple[ItemState, ...]:
        """The state of each item."""
        return tuple(ItemState(code) for code in self.codes.tolist())

    @property
    def run(self) -> Run:
        """The run that counts in the newest part it entered."""
        return self.runs[-1]


@dataclass(frozen=True, slots=True)
class Inputs:
    """All that a ranking rests on. `groups` holds baselines and withdrawn runs, listed apart."""

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
    by_part = [_of_part(part, runs[part.version.pk], bare) for part in parts]
    gone = _withdrawn_runs(by_part)
    keys = sorted({key for held in by_part for key in held})
    made = [_joined(key, by_part, parts, gone) for key in keys]
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
    """The runs that stand on a board or beside it; carried ones repeat another version's."""
    held = Run.objects.filter(version=part.version, state__in=STANDING)
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


Key = tuple[str, str, str, str]


def _of_part(part: Part, runs: Sequence[Run], inputs: Inputs) -> dict[Key, Candidate]:
    """The candidates of one version, by kind, entrant, arm and scenario."""
    mode = inputs.policy.mode
    # By the state and not by a list of runs: a statement that comes again keeps its plan.
    stored = RunVector.objects.filter(
        run__state__in=STANDING, metric=part.metric, scoring_pass=part.scoring_pass, mode=mode
    ).exclude(run__kind=Run.Kind.CARRIED)
    vectors = {
        run_id: summing.decode_arrays(values, states)
        for run_id, values, states in read_binary(stored.values_list("run_id", "values", "states"))
    }
    reported = dict(
        RunResult.objects.filter(
            run__version=part.version, metric=part.metric, origin="reported", slice=""
        ).values_list("run_id", "value")
    )
    attempts: dict[Key, list[tuple[Run, Entry, int]]] = {}
    for run in runs:
        if run.pk in vectors or run.pk in reported:
            entry, audited = _attempt(run, vectors.get(run.pk), part, inputs, reported)
            kind = "withdrawn" if run.state == Run.State.WITHDRAWN else run.kind
            scenario = f"{run.scenario}#{run.attempt}" if kind == "withdrawn" else run.scenario
            key = (kind, run.entrant.slug, run.arm, scenario)
            attempts.setdefault(key, []).append((run, entry, audited))
    # One policy for all parts would carry the labels of all their items.
    policy = rank_policy(replace(inputs, parts=(part,), clusters=None))
    # Where there is one attempt, nothing is chosen.
    several = [listed for listed in attempts.values() if len(listed) > 1]
    held = [entry for listed in several for _run, entry, _audited in listed]
    scores = attempt_scores(held, policy)
    return {
        key: _chosen(key, listed, scores, inputs, part.metric) for key, listed in attempts.items()
    }


def _attempt(
    run: Run,
    vector: tuple[FloatArray, UInt8Array] | None,
    part: Part,
    inputs: Inputs,
    reported: Mapping[int, float | None],
) -> tuple[Entry, int]:
    """A run as an entry over the items of its part, and how many of its records people checked."""
    places = part.graded.places
    audited = 0
    if vector is None:
        numbers = np.full(len(places), np.nan)
        codes = np.full(len(places), ItemState.MISSING, dtype=np.uint8)
    else:
        numbers, codes = _at(places, *vector)
        if inputs.policy.evidence == "judge_audited":
            audited = _apply_audit(run, part, Mode(inputs.policy.mode), numbers, codes)
    return Entry(str(run.pk), numbers, codes, reported.get(run.pk)), audited


def _at(places: IntArray, numbers: FloatArray, codes: UInt8Array) -> tuple[FloatArray, UInt8Array]:
    """Copies of a vector at the places of a part's tasks.

    A collection grows: what came after a run was summed up is missing in it.
    """
    known = places[places < len(codes)]
    found = numbers[known], codes[known]
    if later := len(places) - len(known):
        absent = np.full(later, np.nan), np.full(later, ItemState.MISSING, dtype=np.uint8)
        found = np.concatenate([found[0], absent[0]]), np.concatenate([found[1], absent[1]])
    return found


def _apply_audit(run: Run, part: Part, mode: Mode, numbers: FloatArray, codes: UInt8Array) -> int:
    """Correct the items that people checked; gives the number of records they settled."""
    found = rejudging.audited_records(run, part.scoring_pass, part.metric, mode)
    audited = 0
    for place, task in enumerate(part.tasks):
        records = found.get(task.pk)
        if not records or codes[place] != ItemState.SCORED:
            continue
        judged = [record for record in records if record.judge is not None]
        corrected = audited_values(
            [record.judge for record in judged if record.judge is not None],
            [record.person for record in judged],
            [record.probability for record in judged],
        )
        numbers[place] = float(corrected.mean())
        audited += sum(record.person is not None for record in judged)
    return audited


def _chosen(
    key: Key,
    attempts: Sequence[tuple[Run, Entry, int]],
    scores: Mapping[str, tuple[float | None, bool]],
    inputs: Inputs,
    metric: Metric,
) -> Candidate:
    """Reduce the attempts of an entrant by the policy of the board.

    Under "best" an attempt whose number is not final is passed over while another one's is.
    """
    rule = inputs.policy.attempts
    found = [scores.get(entry.key, (None, False)) for _run, entry, _audited in attempts]
    numbers = [score for score, _final in found]
    if rule == "best" and any(final for _score, final in found):
        numbers = [score if final else None for score, final in found]
    chosen = choose_attempt(numbers, rule, metric.direction)  # type: ignore[arg-type]
    place = len(attempts) - 1 if chosen.index is None else chosen.index
    run, entry, audited = attempts[place]
    values, states = entry.values, entry.states
    if rule == "mean" and len(attempts) > 1:
        entries = [one for _run, one, _audited in attempts]
        values, states = mean_items(
            [one.values for one in entries], [_states(one) for one in entries], metric.missing
        )
        audited = min(count for _run, _entry, count in attempts)
    return Candidate(
        key=" · ".join(part for part in (*key[1:], key[0] if key[0] in TOLD_KINDS else "") if part),
        runs=(run,),
        attempts=tuple(run for run, _entry, _audited in attempts),
        numbers=np.asarray(values, dtype=np.float64),
        codes=np.asarray(states, dtype=np.uint8),
        reported=entry.reported,
        mean_of_attempts=chosen.mean if len(attempts) > 1 else None,
        audited=audited,
    )


def _states(entry: Entry) -> Sequence[int]:
    return [] if entry.states is None else np.asarray(entry.states).tolist()


def _withdrawn_runs(by_part: Sequence[Mapping[Key, Candidate]]) -> Counter[tuple[str, ...]]:
    """How many runs were withdrawn of each entrant, arm and scenario."""
    found: Counter[tuple[str, ...]] = Counter()
    for key, candidate in chain.from_iterable(held.items() for held in by_part):
        if key[0] == "withdrawn":
            found[(key[1], key[2], key[3].rpartition("#")[0])] += len(candidate.attempts)
    return found


def _joined(
    key: Key,
    by_part: Sequence[Mapping[Key, Candidate]],
    parts: Sequence[Part],
    withdrawn: Mapping[tuple[str, ...], int],
) -> tuple[str, Candidate]:
    """One entrant over all parts; the items of a version it did not enter are missing."""
    numbers: list[FloatArray] = []
    codes: list[UInt8Array] = []
    found = [held.get(key) for held in by_part]
    for part, candidate in zip(parts, found, strict=True):
        size = len(part.tasks)
        numbers.append(candidate.numbers if candidate else np.full(size, np.nan))
        absent = np.full(size, ItemState.MISSING, dtype=np.uint8)
        codes.append(candidate.codes if candidate else absent)
    present = [candidate for candidate in found if candidate]
    joined = replace(
        present[-1],
        runs=tuple(run for candidate in present for run in candidate.runs),
        attempts=tuple(run for candidate in present for run in candidate.attempts),
        numbers=np.concatenate(numbers),
        codes=np.concatenate(codes),
        reported=present[-1].reported if len(parts) == 1 else None,
        mean_of_attempts=present[-1].mean_of_attempts if len(parts) == 1 else None,
        audited=sum(candidate.audited for candidate in present),
        withdrawn=withdrawn[key[1:]] if key[0] == Run.Kind.ENTRANT else 0,
    )
    return key[0], joined
