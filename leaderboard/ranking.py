"""The one ranking function: board, API, exports, command and badge all show what it returns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from academy.aggregation import ItemState
from academy.draws import weights_seed
from academy.intervals import Interval
from leaderboard.digits import shown, telling_digits
from leaderboard.entries import (
    Entry,
    ItemTable,
    Place,
    Placement,
    Policy,
    item_table,
    placements,
)
from leaderboard.estimates import (
    FEWEST_CLUSTERS,
    Estimate,
    estimates,
    statistic_of,
    too_few_note,
)
from leaderboard.paired import CommonItems, difference_of_means
from leaderboard.power import fragility, smallest_detectable_difference
from leaderboard.resampling import (
    UNIT,
    cluster_sums,
    quantise,
    rank_spread,
    resampled_medians,
    resampled_sums,
)
from leaderboard.ties import PairTest, pair_pvalues, pair_test, tie_groups

__all__ = [
    "Entry",
    "ItemState",
    "Place",
    "Policy",
    "Ranking",
    "Standing",
    "attempt_scores",
    "rank",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

PLACES = list(Place)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where one entry stands and every number that is shown of it.

    `shown` is the text of the score. `second` leaves items without a value out, `worst` and `best`
    give them the ends of the metric's range. On a board of reported values `score` is the reported
    one and `computed` that of the item records. None is "cannot be said", never 0.
    """

    key: str
    place: Place
    reason: str
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    p_first: float | None
    p_top3: float | None
    tie_group: int | None
    score: Interval
    shown: str
    computed: Interval | None
    reported: float | None
    second: float | None
    worst: float | None
    best: float | None
    coverage: float
    n: int
    scored: int
    missing: int
    failed: int
    waiting: int
    unscorable: int


@dataclass(frozen=True, slots=True)
class Ranking:
    """A whole board: ranked entries by rank, ties by key, then the others by place and key.

    `n` items in `clusters` are in the denominator of every entry. `seed` (hex) and `rounds` name
    the draws. `fragility` is the fewest changed verdicts that swap the first two entries, and
    `detectable` the difference between them that this many items would find with 80 % power.
    """

    standings: tuple[Standing, ...]
    n: int
    clusters: int
    test: str
    rounds: int
    seed: str
    digits: int
    fragility: int | None
    detectable: float | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """The ranked columns of the table from best to worst, with their ranks and exact scores."""

    columns: list[int]
    ranks: list[int]
    exact: list[Fraction]


@dataclass(frozen=True, slots=True)
class _Position:
    """What being ranked adds to an entry."""

    rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    p_first: float | None = None
    p_top3: float | None = None
    tie_group: int | None = None


def rank(entries: Sequence[Entry], policy: Policy, seed_digest: str) -> Ranking:
    """Rank the entries of a board by its policy.

    Deterministic, whatever the order of the entries: scores are compared as exact integers, and
    the draws are fixed by `seed_digest` (the version's), the number of clusters and the rounds.
    On a `judge_audited` board the values are those of `leaderboard.audit.audited_values` and the
    test is "t", so that both errors are in intervals, spread and groups. Raises ValueError for
    entries that do not fit together (see `item_table`) and for values too large for exact sums.
    """
    table = item_table(entries, policy)
    placed = placements(table, policy)
    order = _order(table, policy, placed)
    test = pair_test(policy, table.counted[:, order.columns])
    seed = weights_seed(seed_digest, table.clusters, policy.rounds)
    draws = _draws(table, policy, order, seed)
    medians = draws if policy.statistic == "median" else None
    numbers = estimates(table, policy, medians)
    scores = [
        _main(entry, policy, placed[at], numbers[at]) for at, entry in enumerate(table.entries)
    ]
    digits, texts = _texts(policy, order, scores)
    positions = _positions(table, policy, order, draws, test)
    standings = [
        _standing(entry, policy, placed[at], numbers[at], scores[at], positions[at], texts[at])
        for at, entry in enumerate(table.entries)
    ]
    return Ranking(
        standings=tuple(sorted(standings, key=_listing)),
        n=len(table.values),
        clusters=table.clusters,
        test=test,
        rounds=policy.rounds,
        seed=seed.hex(),
        digits=digits,
        fragility=_fragility(table, policy, order),
        detectable=_detectable(table, policy, order),
        notes=_notes(table, policy, order),
    )


def attempt_scores(
    entries: Sequence[Entry], policy: Policy
) -> dict[str, tuple[float | None, bool]]:
    """By key, the number that each entry would rank by, and whether it is final.

    What is not final (provisional, incomplete) has the number over the items it has. Entries of
    one board belong in one call: what is struck for one is struck for all.
    """
    table = item_table(entries, policy)
    placed = placements(table, policy)
    found = {}
    for column, entry in enumerate(table.entries):
        counted = table.counted[:, column]
        score = statistic_of(counted[~np.isnan(counted)], policy.statistic)
        if policy.origin == "reported" or placed[column].missing == placed[column].n:
            score = entry.reported
        open_places = (Place.PROVISIONAL, Place.INCOMPLETE, Place.UNSCORED)
        found[entry.key] = score, placed[column].place not in open_places
    return found


def _order(table: ItemTable, policy: Policy, placed: Sequence[Placement]) -> _Order:
    """Sort the ranked columns by their exact scores.

    Equal scores follow their item values, so that the anchor of a tie group does not depend on
    what entrants are called.
    """
    columns = [column for column, of in enumerate(placed) if of.place is Place.RANKED]
    exact = [_exact_score(table, policy, column) for column in columns]
    sign = -1 if policy.direction == "up" else 1
    contents = [table.counted[:, column].astype(">f8").tobytes() for column in columns]
    order = sorted(range(len(columns)), key=lambda at: (sign * exact[at], contents[at]))
    ordered = [exact[at] for at in order]
    ranks: list[int] = []
    for at, score in enumerate(ordered):
        ranks.append(ranks[-1] if at and score == ordered[at - 1] else at + 1)
    return _Order([columns[at] for at in order], ranks, ordered)


def _exact_score(table: ItemTable, policy: Policy, column: int) -> Fraction:
    """The score as a whole number of 2**-20 over a whole number of items.

    The sum is rounded once, after an exactly rounded addition. Rounding each item would tear
    equal scores apart: three items of 1/3 are as good as one of 1.
    """
    reported = table.entries[column].reported
    if policy.origin == "reported" and reported is not None:
        return Fraction(round(reported * UNIT), UNIT)
    values = table.counted[:, column]
    if policy.statistic == "median":
        ordered = np.sort(values)
        values = np.array([ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]])
    return Fraction(round(math.fsum(values.tolist()) * UNIT), len(values) * UNIT)


def _draws(table: ItemTable, policy: Policy, order: _Order, seed: bytes) -> FloatArray | None:
    """The statistic of every column in every round, None where too few clusters forbid it.

    Columns that have items without a value, or are not ranked by their mean, are left at 0.
    """
    needed = np.zeros(len(table.entries), dtype=np.bool_)
    if policy.statistic == "median":
        needed |= ~np.isnan(table.counted).any(axis=0)
    needed[order.columns] = True
    if table.clusters < FEWEST_CLUSTERS or not needed.any():
        return None
    units = quantise(np.where(needed, table.counted, 0.0))
    if policy.statistic == "median":
        return resampled_medians(units, table.codes, table.clusters, seed, policy.rounds)
    return resampled_sums(cluster_sums(units, table.codes, table.clusters), seed, policy.rounds)


def _positions(
    table: ItemTable,
    policy: Policy,
    order: _Order,
    draws: FloatArray | None,
    test: PairTest,
) -> list[_Position]:
    """Ranks with their spread, which is widened where it would not hold the rank, and groups."""
    positions = [_Position()] * len(table.entries)
    if draws is None or not order.columns:
        for column, place in zip(order.columns, order.ranks, strict=True):
            positions[column] = _Position(place)
        return positions
    drawn = np.ascontiguousarray(draws[:, order.columns])
    spread = rank_spread(drawn, policy.direction, policy.confidence)
    pvalues = pair_pvalues(test, table.counted[:, order.columns], table, drawn)
    groups = tie_groups(range(len(order.columns)), pvalues, policy.confidence)
    for at, (column, place) in enumerate(zip(order.columns, order.ranks, strict=True)):
        positions[column] = _Position(
            rank=place,
            rank_low=min(place, int(spread.low[at])),
            rank_high=max(place, int(spread.high[at])),
            p_first=float(spread.first[at]),
            p_top3=float(spread.top_three[at]),
            tie_group=groups[at],
        )
    return positions


def _texts(policy: Policy, order: _Order, scores: Sequence[Interval]) -> tuple[int, list[str]]:
    """The decimals of the board and the text of every score; an entry without one has none."""
    points = [score.point for score in scores]
    ranked = [point for column in order.columns if (point := points[column]) is not None]
    digits, telling = telling_digits(ranked, order.exact, order.ranks, policy.digits, policy.scale)
    texts = ["" if point is None else shown(point, digits, policy.scale) for point in points]
    for column, text in zip(order.columns, telling, strict=True):
        texts[column] = text
    return digits, texts


def _main(entry: Entry, policy: Policy, placed: Placement, numbers: Estimate) -> Interval:
    """The number that ranks, or the reported one of an entry without item records."""
    has_records = placed.missing < placed.n
    if policy.origin == "computed" and (has_records or entry.reported is None):
        return numbers.score
    n = numbers.score.n
    if entry.reported is None:
        return Interval(None, None, None, "reported", n, "Its source reports no value.")
    note = "As reported by its source; an interval needs item records."
    return Interval(entry.reported, None, None, "reported", n, note)


def _standing(
    entry: Entry,
    policy: Policy,
    placed: Placement,
    numbers: Estimate,
    score: Interval,
    position: _Position,
    text: str,
) -> Standing:
    return Standing(
        key=entry.key,
        place=placed.place,
        reason=placed.reason,
        **asdict(position),
        score=score,
        shown=text,
        computed=numbers.score if policy.origin == "reported" else None,
        reported=entry.reported,
        second=numbers.second,
        worst=numbers.worst,
        best=numbers.best,
        coverage=placed.coverage,
        n=placed.n,
        scored=placed.scored,
        missing=placed.missing,
        failed=placed.failed,
        waiting=placed.waiting,
        unscorable=placed.unscorable,
    )


def _listing(standing: Standing) -> tuple[int, int, str]:
    """Entries without a rank come last in both directions."""
    return PLACES.index(standing.place), standing.rank or 0, standing.key


def _first_two(table: ItemTable, order: _Order) -> tuple[FloatArray, FloatArray]:
    first, second = (table.counted[:, column] for column in order.columns[:2])
    return first, second


def _fragility(table: ItemTable, policy: Policy, order: _Order) -> int | None:
    by_mean = policy.statistic == "mean" and policy.origin == "computed"
    if len(order.columns) < 2 or policy.limits is None or not by_mean:
        return None
    return fragility(*_first_two(table, order), *policy.limits, policy.direction)


def _detectable(table: ItemTable, policy: Policy, order: _Order) -> float | None:
    if len(order.columns) < 2 or policy.statistic != "mean":
        return None
    items = CommonItems(*_first_two(table, order), table.codes, table.clusters)
    error = difference_of_means(items, policy.confidence).error
    n = len(table.values)
    return None if error is None else smallest_detectable_difference(error * error * n, n)


def _notes(table: ItemTable, policy: Policy, order: _Order) -> tuple[str, ...]:
    notes = [too_few_note(table)] if order.columns else []
    if policy.origin == "reported":
        notes.append(
            "The order is that of the reported values; spread and tie groups come from "
            "the item records."
        )
    if table.struck:
        noun = "item is" if table.struck == 1 else "items are"
        notes.append(f"{table.struck} {noun} struck for every entry.")
    return tuple(note for note in notes if note)
