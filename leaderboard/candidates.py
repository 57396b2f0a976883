"""What stands on a board for one entrant: its runs in each version, reduced to one row of items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from academy import rejudging, summing
from academy.aggregation import ItemState
from academy.models import Metric, Run, RunResult, RunVector, ScoringPass, SuiteVersion, Task
from academy.scorers.base import Mode
from academy.statements import read_binary
from leaderboard.attempts import choose_attempt, mean_items
from leaderboard.audit import audited_values
from leaderboard.boards import StoredPolicy
from leaderboard.entries import Entry, Policy
from leaderboard.graded import Graded
from leaderboard.ranking import attempt_scores

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]
# A failed run and an open one stand nowhere.
STANDING = (Run.State.CLOSED, Run.State.WITHDRAWN)
TOLD_KINDS = tuple(kind for kind in Run.Kind.values if kind != Run.Kind.ENTRANT)
Key = tuple[str, str, str, str]


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


def candidates_of(
    part: Part, runs: Sequence[Run], stored: StoredPolicy, policy: Policy
) -> dict[Key, Candidate]:
    """The candidates of one version, by kind, entrant, arm and scenario."""
    # By the state and not by a list of runs: a statement that comes again keeps its plan.
    rows = RunVector.objects.filter(
        run__state__in=STANDING,
        metric=part.metric,
        scoring_pass=part.scoring_pass,
        mode=stored.mode,
    ).exclude(run__kind=Run.Kind.CARRIED)
    vectors = {
        run_id: summing.decode_arrays(values, states)
        for run_id, values, states in read_binary(rows.values_list("run_id", "values", "states"))
    }
    reported = dict(
        RunResult.objects.filter(
            run__version=part.version, metric=part.metric, origin="reported", slice=""
        ).values_list("run_id", "value")
    )
    attempts: dict[Key, list[tuple[Run, Entry, int]]] = {}
    for run in runs:
        if run.pk in vectors or run.pk in reported:
            entry, audited = _attempt(run, vectors.get(run.pk), part, stored, reported)
            kind = "withdrawn" if run.state == Run.State.WITHDRAWN else run.kind
            scenario = f"{run.scenario}#{run.attempt}" if kind == "withdrawn" else run.scenario
            key = (kind, run.entrant.slug, run.arm, scenario)
            attempts.setdefault(key, []).append((run, entry, audited))
    # Where there is one attempt, nothing is chosen.
    several = [listed for listed in attempts.values() if len(listed) > 1]
    held = [entry for listed in several for _run, entry, _audited in listed]
    scores = attempt_scores(held, policy)
    return {
        key: _chosen(key, listed, scores, stored.attempts, part.metric)
        for key, listed in attempts.items()
    }


def _attempt(
    run: Run,
    vector: tuple[FloatArray, UInt8Array] | None,
    part: Part,
    stored: StoredPolicy,
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
        if stored.evidence == "judge_audited":
            audited = _apply_audit(run, part, Mode(stored.mode), numbers, codes)
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
    rule: str,
    metric: Metric,
) -> Candidate:
    """Reduce the attempts of an entrant by the policy of the board.

    Under "best" an attempt whose number is not final is passed over while another one's is.
    """
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


def withdrawn_runs(by_part: Sequence[Mapping[Key, Candidate]]) -> Counter[tuple[str, ...]]:
    """How many runs were withdrawn of each entrant, arm and scenario."""
    found: Counter[tuple[str, ...]] = Counter()
    for key, candidate in chain.from_iterable(held.items() for held in by_part):
        if key[0] == "withdrawn":
            found[(key[1], key[2], key[3].rpartition("#")[0])] += len(candidate.attempts)
    return found


def joined(
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
    made = replace(
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
    return key[0], made
