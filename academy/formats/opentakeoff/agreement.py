"""How far people who measured the same things agree, as the original reports it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

from academy.bundle import JSON
from academy.formats.opentakeoff.bootstrap import median
from academy.formats.opentakeoff.keys import ORIGIN, consensus, items, rated
from academy.formats.opentakeoff.manifests import mapping, numeric
from academy.scorers.ecmascript import plain_mean, plain_sum, round_places

ZERO = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling:
    """The spread of people on the same quantities, in percent, and two figures of agreement."""

    raters: int
    names: tuple[str, ...]
    items: int
    median_error: float
    mean_error: float
    alpha: float | None
    icc: float | None


def pair_error(a: float, b: float) -> float:
    """How far two values lie apart, in percent of their middle."""
    middle = abs((a + b) / 2)
    return abs(a - b) / (middle or ZERO) * 100


def krippendorff_alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for intervals, four places; None below two comparable values."""
    paired = [unit for unit in units if len(unit) >= 2]
    pool = [value for unit in paired for value in unit]
    size = len(pool)
    if size < 2:
        return None
    within = []
    for unit in paired:
        count, total = len(unit), plain_sum(unit)
        squares = plain_sum(value * value for value in unit)
        within.append(2 * (count * squares - total * total) / (count - 1))
    observed = plain_sum(within) / size
    total, squares = plain_sum(pool), plain_sum(value * value for value in pool)
    expected = 2 * (size * squares - total * total) / (size * (size - 1))
    if expected == 0:
        return 1.0
    return round_places(1 - observed / expected, 4)


def icc_agreement(matrix: Sequence[Sequence[float]]) -> float | None:
    """ICC(2,1) for absolute agreement, four places.

    Rows are quantities, columns raters by position. None unless there are two full rows and two
    columns.
    """
    rows = len(matrix)
    columns = max((len(row) for row in matrix), default=0)
    if rows < 2 or columns < 2 or any(len(row) != columns for row in matrix):
        return None
    grand = plain_mean([value for row in matrix for value in row])
    row_means = [plain_mean(row) for row in matrix]
    column_means = [plain_mean([row[column] for row in matrix]) for column in range(columns)]
    between = columns * plain_sum((mean - grand) ** 2 for mean in row_means)
    across = rows * plain_sum((mean - grand) ** 2 for mean in column_means)
    rest = plain_sum(
        (value - row_means[place] - column_means[column] + grand) ** 2
        for place, row in enumerate(matrix)
        for column, value in enumerate(row)
    )
    by_row = between / (rows - 1)
    by_column = across / (columns - 1)
    error = rest / ((rows - 1) * (columns - 1))
    below = by_row + (columns - 1) * error + (columns / rows) * (by_column - error)
    if below == 0 or not math.isfinite(below):
        return None
    return round_places((by_row - error) / below, 4)


def finite_values(record: Mapping[str, JSON]) -> list[float]:
    """The finite values of one quantity's raters."""
    values = map(numeric, items(record.get("values")))
    return [value for value in values if value is not None and math.isfinite(value)]


def ceiling_of(spreads: Iterable[JSON]) -> Ceiling | None:
    """The agreement over the rater records of all keys; None where nobody measured twice."""
    records = [mapping(spread) for spread in spreads]
    used = [(record, values) for record in records if len(values := finite_values(record)) >= 2]
    if not used:
        return None
    units = [values for _, values in used]
    errors = [pair_error(a, b) for unit in units for a, b in combinations(unit, 2)]
    names = tuple(
        dict.fromkeys(
            name
            for record in records
            for name in items(record.get("by"))
            if isinstance(name, str) and name
        )
    )
    return Ceiling(
        raters=len(names) or max(map(len, units)),
        names=names,
        items=len(units),
        median_error=round_places(median(errors), 2),
        mean_error=round_places(plain_mean(errors), 2),
        alpha=krippendorff_alpha(units),
        icc=icc_agreement(units),
    )


def key_agreement(keys: Sequence[JSON]) -> Mapping[str, JSON]:
    """The agreement over some keys as named figures; empty where nobody measured twice."""
    ceiling = ceiling_of(spreads_of(keys))
    if ceiling is None:
        return {}
    return {**asdict(ceiling), "names": list(ceiling.names)}


def key_consensus(key: JSON) -> tuple[Mapping[str, JSON], ...]:
    """The quantities of a held-out key whose value is the median of two raters or more; one that
    the key file states itself is no consensus."""
    document = mapping(mapping(mapping(key).get(ORIGIN)).get("document"))
    found = []
    for quantity in map(mapping, items(document.get("quantities"))):
        values, names = rated(quantity)
        if numeric(quantity.get("value")) is None and len(values) >= 2:
            found.append(
                {
                    "item": quantity.get("item"),
                    "unit": quantity.get("unit"),
                    "value": consensus(values),
                    "values": values,
                    "by": names,
                }
            )
    return tuple(found)


def spreads_of(keys: Iterable[JSON]) -> list[JSON]:
    """The rater records of answer keys."""
    return [spread for key in keys for spread in items(mapping(key).get("raters"))]
