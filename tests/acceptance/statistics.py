"""statistics FILE: a JSON list of {"function", "arguments"} over the documented names."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adjudication import agreement
from leaderboard import statistics
from tests.acceptance.base import Failed, Product

# Python reads no whole number that is longer.
LONGEST = 4000
DOCUMENTED = {**statistics.FUNCTIONS, **agreement.FUNCTIONS}


def check(arguments: Sequence[str], _product: Product) -> dict[str, Any]:
    """The result of every case, or the reason why a function refuses it."""
    if len(arguments) != 1:
        raise Failed("Say which file holds the cases: statistics FILE")
    try:
        cases = json.loads(
            Path(arguments[0]).read_bytes(),
            parse_constant=str,
            parse_float=_number,
            parse_int=_number,
        )
    except (OSError, ValueError, RecursionError) as error:
        raise Failed(f"{arguments[0]} cannot be read: {error}") from error
    if not isinstance(cases, list):
        raise Failed("The file must hold a list of objects.")
    results = [_result(case) for case in cases]
    refused = sum("error" in result for result in results)
    return {"detail": f"{len(results)} cases, {refused} of them refused", "results": results}


def _number(digits: str) -> float | str:
    """A number of the file; one that is none here stays text, so that only its case is refused."""
    if set(digits) & set(".eE"):
        number = float(digits)
        return number if math.isfinite(number) else digits
    return int(digits) if len(digits) <= LONGEST else digits


def _result(case: Any) -> dict[str, Any]:
    named = case if isinstance(case, dict) else {"case": case}
    try:
        return {**named, "result": statistics.evaluate(case, DOCUMENTED)}
    except Exception as error:  # noqa: BLE001 - one bad case must not hide the others
        return {**named, "error": f"{type(error).__name__}: {error}"}


check.wants_arguments = True  # type: ignore[attr-defined]
