"""statistics FILE: a JSON list of {"function", "arguments"} over the documented names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adjudication import agreement
from leaderboard import statistics
from tests.acceptance.base import Failed, Product

DOCUMENTED = {**statistics.FUNCTIONS, **agreement.FUNCTIONS}


def check(arguments: Sequence[str], _product: Product) -> dict[str, Any]:
    """The result of every case, or the reason why a function refuses it."""
    if len(arguments) != 1:
        raise Failed("Say which file holds the cases: statistics FILE")
    try:
        cases = json.loads(Path(arguments[0]).read_bytes())
    except (OSError, ValueError) as error:
        raise Failed(f"{arguments[0]} cannot be read: {error}") from error
    if not isinstance(cases, list):
        raise Failed("The file must hold a list of objects.")
    results = [_result(case) for case in cases]
    refused = sum("error" in result for result in results)
    return {"detail": f"{len(results)} cases, {refused} of them refused", "results": results}


def _result(case: Any) -> dict[str, Any]:
    named = case if isinstance(case, dict) else {"case": case}
    try:
        return {**named, "result": statistics.evaluate(case, DOCUMENTED)}
    except (ValueError, TypeError, KeyError, ArithmeticError) as error:
        return {**named, "error": f"{type(error).__name__}: {error}"}


check.wants_arguments = True  # type: ignore[attr-defined]
