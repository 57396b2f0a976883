"""What a machine may lack: skipped by name, or, when ACADEMY_REQUIRE names it, a failure."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

KNOWN = frozenset({"browser", "data"})


def required() -> frozenset[str]:
    """The names in ACADEMY_REQUIRE."""
    named = frozenset(filter(None, os.environ.get("ACADEMY_REQUIRE", "").split(",")))
    if named - KNOWN:
        raise pytest.UsageError(
            f"ACADEMY_REQUIRE may name {', '.join(sorted(KNOWN))}; "
            f"not {', '.join(sorted(named - KNOWN))}."
        )
    return named


def missing(name: str, why: str) -> NoReturn:
    """End a test that needs something this machine lacks: a skip, or a failure if required."""
    if name in required():
        pytest.fail(f"{name} is required (ACADEMY_REQUIRE), but {why}.")
    pytest.skip(f"{name}: {why}")
