"""Arguments that come as JSON are held against a function's annotations, and refused by name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy.typing as npt
import pytest

from academy.calling import call


@dataclass(frozen=True)
class Draws:
    seed: str
    rounds: int = 10
    values: Sequence[float] | npt.NDArray[Any] = ()


def tried(
    values: npt.ArrayLike,
    pairs: Sequence[tuple[int, int]] = (),
    *,
    draws: Draws | None = None,
    named: Mapping[str, Sequence[Hashable | None]] | None = None,
    way: Literal["mean", "median"] = "mean",
    confidence: float = 0.95,
    wanted: int = 1,
) -> list[object]:
    return [values, pairs, draws, named, way, confidence, wanted]


def test_arguments_go_by_name_or_by_place() -> None:
    by_name = call(tried, {"values": [1, None, True], "pairs": [[2, 1]], "way": "median"})
    assert by_name == [[1, None, True], [[2, 1]], None, None, "median", 0.95, 1]
    assert call(tried, [[1, None, True], [[2, 1]]]) == [*by_name[:4], "mean", 0.95, 1]


def test_a_whole_number_may_be_written_with_a_point() -> None:
    said = call(tried, {"values": 1, "wanted": 3.0})
    assert isinstance(said, list)
    assert isinstance(said[-1], int)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"values": [1, [2, "x"]]}, "values[1][1] is a finite number, not 'x'"),
        ({"values": {}}, "values is a finite number, not {}"),
        ({"values": [10**400]}, "values[0] is a finite number, not 1000"),
        ({"pairs": [[1, 2], [1]]}, "pairs[1] has 2 entries, not 1"),
        ({"pairs": [[1, 2.5]]}, "pairs[0][1] is a whole number, not 2.5"),
        ({"pairs": "ab"}, "pairs is a list, not 'ab'"),
        ({"draws": {"rounds": 3}}, "draws lacks 'seed'"),
        ({"draws": {"seed": "a", "round": 3}}, "draws has no 'round'; its fields are seed, rounds"),
        ({"draws": {"seed": "a", "rounds": "3"}}, "draws.rounds is a whole number, not '3'"),
        ({"named": {"a": [1, "b", None], "c": [[1]]}}, "named.c[0] is a label, not [1]"),
        ({"way": "mode"}, "way is 'mode', not one of mean, median"),
        ({"confidence": 1}, "confidence lies between 0 and 1, not at 1"),
        ({"confidence": None}, "confidence is a finite number, not None"),
        ({"unknown": 1}, "'unknown'; the arguments are values, pairs, draws"),
    ],
)
def test_an_argument_of_another_kind_is_refused_with_its_place(
    more: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError) as refused:
        call(tried, {"values": [1], **more})
    assert problem in str(refused.value)


@pytest.mark.parametrize("arguments", [None, 5, "abc"])
def test_arguments_that_are_neither_object_nor_list_are_refused(arguments: Any) -> None:
    with pytest.raises(ValueError, match="an object or a list"):
        call(tried, arguments)
